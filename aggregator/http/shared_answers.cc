#include "aggregator/http/shared_answers.h"

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "aggregator/http/routes.h"

namespace l4::http {
namespace {

using Clock = std::chrono::steady_clock;

bool is_shared(const Request& request) {
  if (request.method != "GET") return false;
  const auto matched = match(request);
  if (!matched) return false;
  switch (matched->route) {
    case Route::jobs:
    case Route::job:
    case Route::snapshot:
    case Route::nodes:
    case Route::iterations:
    case Route::agents:
    case Route::metrics:
      return true;
    default:
      return false;
  }
}

std::string key_of(const Request& request) {
  std::string key = request.path;
  for (const auto& [name, value] : request.query) {
    key += '\n';
    key += name;
    key += '\n';
    key += value;
  }
  return key;
}

/// Those who wait for one answer. Held by whoever makes it: if it is never made, they are told.
struct Waiting {
  std::mutex mutex;
  std::vector<Reply> replies;  ///< under it
  bool over = false;           ///< under it
};

class Answers : public std::enable_shared_from_this<Answers> {
 public:
  Answers(Handler inner, Millis fresh) : inner_(std::move(inner)), fresh_(fresh) {}

  void ask(const Request& request, const Reply& reply) {
    const std::string key = key_of(request);
    std::shared_ptr<Waiting> waiting;
    if (const auto known = join(key, reply, waiting)) return reply(*known);
    if (!waiting) return;
    inner_(request, [self = shared_from_this(), key, waiting](Response response) {
      self->answered(key, *waiting, std::move(response));
    });
  }

  void pass(const Request& request, Reply reply) { inner_(request, std::move(reply)); }

 private:
  struct Entry {
    std::weak_ptr<Waiting> waiting;
    std::optional<Response> last;
    Clock::time_point made{};
  };

  /// An answer that is fresh; else `reply` waits, and `made` is set if the answer is to be made.
  std::optional<Response> join(const std::string& key, const Reply& reply,
                               std::shared_ptr<Waiting>& made) {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    std::erase_if(entries_, [&](const auto& one) {
      return one.second.waiting.expired() && now - one.second.made >= fresh_;
    });
    Entry& entry = entries_[key];
    if (entry.last && now - entry.made < fresh_) return entry.last;
    if (const auto waiting = entry.waiting.lock()) {
      const std::lock_guard waits(waiting->mutex);
      if (!waiting->over) {
        waiting->replies.push_back(reply);
        return std::nullopt;
      }
    }
    made = std::make_shared<Waiting>();
    made->replies.push_back(reply);
    entry.waiting = made;
    return std::nullopt;
  }

  void answered(const std::string& key, Waiting& waiting, Response response) {
    std::vector<Reply> replies;
    {
      const std::lock_guard waits(waiting.mutex);
      waiting.over = true;
      replies = std::exchange(waiting.replies, {});
    }
    if (replies.empty()) return;  // a second call
    if (response.status == 200) {
      const std::lock_guard lock(mutex_);
      Entry& entry = entries_[key];
      entry.last = response;
      entry.made = Clock::now();
    }
    for (std::size_t i = 0; i + 1 < replies.size(); ++i) replies[i](response);
    replies.back()(std::move(response));
  }

  const Handler inner_;
  const Millis fresh_;
  std::mutex mutex_;
  std::map<std::string, Entry> entries_;  ///< under it
};

}  // namespace

Handler share_answers(Handler inner, Millis fresh) {
  const auto answers = std::make_shared<Answers>(std::move(inner), fresh);
  return [answers](const Request& request, Reply reply) {
    if (!is_shared(request)) return answers->pass(request, std::move(reply));
    answers->ask(request, reply);
  };
}

}  // namespace l4::http
