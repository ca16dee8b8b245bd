#include "aggregator/http/shared_answers.h"

#include <atomic>
#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "common/base/mutex.h"

namespace l4::http {
namespace {

using Clock = std::chrono::steady_clock;

/// Requests of who may see other jobs get other answers.
std::string key_of(const Request& request) {
  std::string key = request.path + '\n' + request.jobs.text();
  for (const auto& [name, value] : request.query) {
    key += '\n';
    key += name;
    key += '\n';
    key += value;
  }
  return key;
}

/// The requests that wait for one answer. The request that makes the answer holds this: if the
/// answer is never made, the others get an error. Once all have left, the answer need not be made
/// and no request joins.
class Waiting {
 public:
  Waiting(const Reply& reply, const std::stop_token& left) {
    const MutexLock lock(mutex_);
    add(reply, left);
  }

  /// False if the answer was given already, or if all requests have left.
  bool join(const Reply& reply, const std::stop_token& left) {
    const MutexLock lock(mutex_);
    std::size_t here = here_;
    while (here > 0 && !here_.compare_exchange_weak(here, here + 1)) continue;
    if (over_ || here == 0) return false;
    add(reply, left);
    return true;
  }

  std::stop_token all_left() const { return all_left_.get_token(); }

  /// Empty for a second call.
  std::vector<Reply> take() {
    const MutexLock lock(mutex_);
    over_ = true;
    return std::exchange(replies_, {});
  }

 private:
  struct Leave {
    Waiting* waiting;
    void operator()() const {
      if (waiting->here_.fetch_sub(1) == 1) waiting->all_left_.request_stop();
    }
  };

  void add(const Reply& reply, const std::stop_token& left) L4_REQUIRES(mutex_) {
    replies_.push_back(reply);
    leaves_.emplace_back(left, Leave{this});
  }

  std::stop_source all_left_;
  std::atomic<std::size_t> here_ = 1;
  Mutex mutex_;
  std::vector<Reply> replies_ L4_GUARDED_BY(mutex_);
  bool over_ L4_GUARDED_BY(mutex_) = false;
  std::list<std::stop_callback<Leave>> leaves_ L4_GUARDED_BY(mutex_);
};

class Answers : public std::enable_shared_from_this<Answers> {
 public:
  Answers(Handler inner, Millis fresh) : inner_(std::move(inner)), fresh_(fresh) {}

  void ask(const Request& request, const Reply& reply) {
    const std::string key = key_of(request);
    std::shared_ptr<Waiting> waiting;
    if (const auto known = join(key, reply, request.left, waiting)) return reply(*known);
    if (!waiting) return;
    Request asked = request;
    asked.left = waiting->all_left();
    inner_(asked, [self = shared_from_this(), key, waiting](Response response) {
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

  /// Gives a fresh answer; without one `reply` waits, and `made` is set if the caller must make the
  /// answer.
  std::optional<Response> join(const std::string& key, const Reply& reply,
                               const std::stop_token& left, std::shared_ptr<Waiting>& made) {
    const MutexLock lock(mutex_);
    const auto now = Clock::now();
    std::erase_if(entries_, [&](const auto& one) {
      return one.second.waiting.expired() && now - one.second.made >= fresh_;
    });
    Entry& entry = entries_[key];
    if (entry.last && now - entry.made < fresh_) return entry.last;
    if (const auto waiting = entry.waiting.lock(); waiting && waiting->join(reply, left))
      return std::nullopt;
    made = std::make_shared<Waiting>(reply, left);
    entry.waiting = made;
    return std::nullopt;
  }

  void answered(const std::string& key, Waiting& waiting, Response response) {
    const std::vector<Reply> replies = waiting.take();
    if (replies.empty()) return;  // a second call
    if (response.status == 200) {
      const MutexLock lock(mutex_);
      Entry& entry = entries_[key];
      entry.last = response;
      entry.made = Clock::now();
    }
    for (std::size_t i = 0; i + 1 < replies.size(); ++i) replies[i](response);
    replies.back()(std::move(response));
  }

  const Handler inner_;
  const Millis fresh_;
  Mutex mutex_;
  std::map<std::string, Entry> entries_ L4_GUARDED_BY(mutex_);
};

}  // namespace

Handler share_answers(Handler inner, std::function<bool(const Request&)> is_shared, Millis fresh) {
  const auto answers = std::make_shared<Answers>(std::move(inner), fresh);
  return [answers, is_shared = std::move(is_shared)](const Request& request, Reply reply) {
    if (request.method != "GET" || !is_shared(request))
      return answers->pass(request, std::move(reply));
    answers->ask(request, reply);
  };
}

}  // namespace l4::http
