#include "common/wire/memory_port.h"

#include <poll.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>

#include "common/base/check.h"
#include "common/base/mutex.h"
#include "common/wire/bell.h"

namespace l4::wire {
namespace {

/// The waiting of one end: for messages, and for `wake` of another thread.
class Waiting {
 public:
  void wait(Millis timeout) {
    pollfd one{bell_.file(), POLLIN, 0};
    if (!woken_) ::poll(&one, 1, static_cast<int>(timeout.count()));
    woken_ = false;
  }
  void wake() {
    woken_ = true;
    bell_.ring();
  }
  void ring() { bell_.ring(); }
  void quiet() { bell_.quiet(); }
  int file() const { return bell_.file(); }

 private:
  Bell bell_;
  std::atomic<bool> woken_{false};  ///< remembered although the bell was quieted by `receive`
};

struct Link {
  std::string key_name;
  Waiting* client = nullptr;
  std::deque<Bytes> down;
  int up_waiting = 0;
  bool is_full_up = false, is_full_down = false;  ///< an end was refused and waits for room
};

PeerId peer_of(std::uint64_t number) {
  return "memory-" + std::to_string(number);
}

constexpr auto kAddress = "this process";

}  // namespace

struct MemoryWire::State {
  struct Up {
    std::uint64_t link = 0;
    Bytes message;
  };

  Mutex mutex;
  std::map<std::uint64_t, Link> links L4_GUARDED_BY(mutex);  ///< by number of the connection
  std::map<PeerId, std::uint64_t> numbers L4_GUARDED_BY(mutex);
  std::deque<Up> up L4_GUARDED_BY(mutex);
  std::uint64_t links_made L4_GUARDED_BY(mutex) = 0;
  Waiting* server L4_GUARDED_BY(mutex) = nullptr;

  void close(std::uint64_t number) L4_REQUIRES(mutex) {
    links.erase(number);
    numbers.erase(peer_of(number));
    std::erase_if(up, [&](const Up& one) { return one.link == number; });
  }
};

class MemoryWire::Client final : public ClientPort {
 public:
  Client(std::shared_ptr<State> state, std::string key_name)
      : state_(std::move(state)), key_name_(std::move(key_name)) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() override { disconnect(); }

  void connect() override {
    disconnect();
    const MutexLock lock(state_->mutex);
    if (state_->server == nullptr) {
      news_ = LinkNews{LinkNews::Kind::lost, "no aggregator runs in this process"};
    } else {
      number_ = ++state_->links_made;
      Link& link = state_->links[number_];
      link.key_name = key_name_;
      link.client = &waiting_;
      state_->numbers[peer_of(number_)] = number_;
      news_ = LinkNews{LinkNews::Kind::connected, {}};
    }
    waiting_.ring();
  }

  void disconnect() override {
    const MutexLock lock(state_->mutex);
    state_->close(number_);
    number_ = 0;
    news_.reset();
  }

  Sent send(Bytes message) override {
    if (message.size() > kWireMessageBytesMax) return Sent::too_long;
    const MutexLock lock(state_->mutex);
    const auto found = state_->links.find(number_);
    if (found == state_->links.end()) return Sent::gone;
    Link& link = found->second;
    link.is_full_up = link.up_waiting >= kHighWaterMark;
    if (link.is_full_up) return Sent::full;
    ++link.up_waiting;
    state_->up.push_back({number_, std::move(message)});
    state_->server->ring();
    return Sent::yes;
  }

  std::optional<Bytes> receive() override {
    const MutexLock lock(state_->mutex);
    const auto found = state_->links.find(number_);
    if (found == state_->links.end() || found->second.down.empty()) {
      if (!has_news()) waiting_.quiet();
      return std::nullopt;
    }
    Link& link = found->second;
    Bytes first = std::move(link.down.front());
    link.down.pop_front();
    if (std::exchange(link.is_full_down, false)) state_->server->ring();
    return first;
  }

  std::optional<LinkNews> news() override {
    const MutexLock lock(state_->mutex);
    if (!news_ && is_broken()) {
      number_ = 0;
      news_ = LinkNews{LinkNews::Kind::lost, "the aggregator of this process has stopped"};
    }
    return std::exchange(news_, std::nullopt);
  }

  void wait(Millis timeout) override { waiting_.wait(timeout); }
  int wait_fd() const override { return waiting_.file(); }
  void wake() override { waiting_.wake(); }

 private:
  bool is_broken() const L4_REQUIRES(state_->mutex) {
    return number_ != 0 && !state_->links.contains(number_);
  }
  bool has_news() const L4_REQUIRES(state_->mutex) { return news_ || is_broken(); }

  std::shared_ptr<State> state_;
  std::string key_name_;
  Waiting waiting_;
  std::optional<LinkNews> news_;
  std::uint64_t number_ = 0;  ///< the connection's; 0: none
};

class MemoryWire::Server final : public ServerPort {
 public:
  explicit Server(std::shared_ptr<State> state) : state_(std::move(state)) {
    const MutexLock lock(state_->mutex);
    L4_CHECK(state_->server == nullptr, "a wire in memory has one server, {} links stand",
             state_->links.size());
    state_->server = &waiting_;
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() override {
    const MutexLock lock(state_->mutex);
    state_->server = nullptr;
    state_->up.clear();
    state_->numbers.clear();
    for (const auto& [number, link] : std::exchange(state_->links, {})) link.client->ring();
  }

  std::optional<Incoming> receive() override {
    const MutexLock lock(state_->mutex);
    if (state_->up.empty()) {
      waiting_.quiet();
      return std::nullopt;
    }
    State::Up first = std::move(state_->up.front());
    state_->up.pop_front();
    Link& link = state_->links.at(first.link);
    --link.up_waiting;
    if (std::exchange(link.is_full_up, false)) link.client->ring();
    return Incoming{peer_of(first.link), link.key_name, kAddress, std::move(first.message)};
  }

  Sent send(const PeerId& peer, Bytes message) override {
    if (message.size() > kWireMessageBytesMax) return Sent::too_long;
    const MutexLock lock(state_->mutex);
    const auto number = state_->numbers.find(peer);
    if (number == state_->numbers.end()) return Sent::gone;
    Link& link = state_->links.at(number->second);
    link.is_full_down = link.down.size() >= kHighWaterMark;
    if (link.is_full_down) return Sent::full;
    link.down.push_back(std::move(message));
    link.client->ring();
    return Sent::yes;
  }

  std::optional<Refused> refused() override { return std::nullopt; }
  void wait(Millis timeout) override { waiting_.wait(timeout); }
  int wait_fd() const override { return waiting_.file(); }
  void wake() override { waiting_.wake(); }

 private:
  std::shared_ptr<State> state_;
  Waiting waiting_;
};

MemoryWire::MemoryWire() : state_(std::make_shared<State>()) {}
MemoryWire::~MemoryWire() = default;

std::unique_ptr<ServerPort> MemoryWire::server() {
  return std::make_unique<Server>(state_);
}

std::unique_ptr<ClientPort> MemoryWire::client(std::string key_name) {
  return std::make_unique<Client>(state_, std::move(key_name));
}

}  // namespace l4::wire
