#include "common/wire/simulation/network.h"

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "common/base/check.h"
#include "common/base/mutex.h"

namespace l4::wire::simulation {
namespace {

enum class Way : std::uint8_t { up, down };

struct Connection {
  std::uint64_t number = 0;
  std::string key_name, address;
  bool up = false;  ///< the client knows that it is connected
  int waiting[2] = {0, 0};
  Millis last_due[2] = {Millis{0}, Millis{0}};
};

struct Flying {
  std::uint64_t connection = 0;
  Way way = Way::up;
  bool connected_news = false;
  Bytes message;
  std::string key_name, address;  ///< the client's, which may be gone by now
};

PeerId peer_of(std::uint64_t connection) {
  return "peer-" + std::to_string(connection);
}

}  // namespace

struct Network::State {
  explicit State(std::uint64_t seed, const LinkOptions& link) : options(link), random(seed) {}

  /// Order of delivery: by due time, then by order of sending.
  using Due = std::pair<Millis, std::uint64_t>;

  mutable Mutex mutex;
  LinkOptions options L4_GUARDED_BY(mutex);
  std::mt19937_64 random L4_GUARDED_BY(mutex);
  Millis now L4_GUARDED_BY(mutex){0};
  std::uint64_t connections_made L4_GUARDED_BY(mutex) = 0;
  std::uint64_t messages_made L4_GUARDED_BY(mutex) = 0;
  std::uint64_t server L4_GUARDED_BY(mutex) = 0;
  std::uint64_t servers_made L4_GUARDED_BY(mutex) = 0;
  bool server_cut L4_GUARDED_BY(mutex) = false;
  std::set<std::string> cut L4_GUARDED_BY(mutex);
  std::map<std::uint64_t, Connection> connections L4_GUARDED_BY(mutex);
  std::map<Due, Flying> up L4_GUARDED_BY(mutex);
  std::map<std::uint64_t, std::map<Due, Flying>> down L4_GUARDED_BY(mutex);  ///< by connection
  std::map<std::uint64_t, std::deque<LinkNews>> news L4_GUARDED_BY(mutex);   ///< by connection
  Counts counts L4_GUARDED_BY(mutex);

  double chance() L4_REQUIRES(mutex) {
    return std::uniform_real_distribution<double>(0, 1)(random);
  }

  Millis due(Connection& connection, Way way) L4_REQUIRES(mutex) {
    const auto span = std::uniform_int_distribution<std::int64_t>(options.delay_min.count(),
                                                                  options.delay_max.count());
    auto draw = span;
    Millis at = now + Millis{draw(random)};
    auto& last = connection.last_due[static_cast<int>(way)];
    if (!options.reorder) at = std::max(at, last);
    last = std::max(at, last);
    return at;
  }

  void fly(Connection& connection, Flying flying) L4_REQUIRES(mutex) {
    const Due at{due(connection, flying.way), ++messages_made};
    ++connection.waiting[static_cast<int>(flying.way)];
    flying.key_name = connection.key_name;
    flying.address = connection.address;
    (flying.way == Way::up ? up : down[connection.number]).emplace(at, std::move(flying));
  }

  Sent send(std::uint64_t number, Way way, Bytes message) L4_REQUIRES(mutex) {
    if (message.size() > kWireMessageBytesMax) return Sent::too_long;
    const auto found = connections.find(number);
    if (found == connections.end() || server == 0) return Sent::gone;
    Connection& connection = found->second;
    if (!connection.up && way == Way::up) return Sent::full;
    if (connection.waiting[static_cast<int>(way)] >= kHighWaterMark) {
      ++counts.full;
      return Sent::full;
    }
    ++counts.sent;
    counts.bytes += message.size();
    if (server_cut || cut.contains(connection.address) || chance() < options.loss) {
      ++counts.lost;
      return Sent::yes;
    }
    if (chance() < options.duplicate) {
      ++counts.duplicated;
      fly(connection, {number, way, false, message, {}, {}});
    }
    fly(connection, {number, way, false, std::move(message), {}, {}});
    return Sent::yes;
  }

  /// The first message that is due now; its client may be gone.
  std::optional<Flying> take(std::map<Due, Flying>& flying) L4_REQUIRES(mutex) {
    while (!flying.empty() && flying.begin()->first.first <= now) {
      Flying one = std::move(flying.begin()->second);
      flying.erase(flying.begin());
      const auto connection = connections.find(one.connection);
      if (connection != connections.end()) {
        const int left = --connection->second.waiting[static_cast<int>(one.way)];
        L4_CHECK(left >= 0, "connection {} delivers more than was sent", one.connection);
      }
      if (server_cut || cut.contains(one.address)) {
        ++counts.lost;
        continue;
      }
      ++counts.delivered;
      return one;
    }
    return std::nullopt;
  }

  void close(std::uint64_t number) L4_REQUIRES(mutex) {
    connections.erase(number);
    down.erase(number);
    news.erase(number);
  }

  void break_off(std::uint64_t number) L4_REQUIRES(mutex) {
    close(number);
    std::erase_if(up, [&](const auto& one) { return one.second.connection == number; });
    news[number].push_back({LinkNews::Kind::lost, "connection reset"});
  }

  void end_server(std::uint64_t which) L4_REQUIRES(mutex) {
    if (server != which) return;
    server = 0;
    up.clear();
    std::vector<std::uint64_t> all;
    all.reserve(connections.size());
    for (const auto& [number, connection] : connections) all.push_back(number);
    for (const std::uint64_t number : all) break_off(number);
  }
};

class Network::Client final : public ClientPort {
 public:
  Client(std::shared_ptr<State> state, std::string key_name, std::string address)
      : state_(std::move(state)), key_name_(std::move(key_name)), address_(std::move(address)) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() override { disconnect(); }

  void connect() override {
    disconnect();
    const MutexLock lock(state_->mutex);
    number_ = ++state_->connections_made;
    if (state_->server_cut || state_->cut.contains(address_)) return;  // no answer at all
    if (state_->server == 0) {
      state_->news[number_].push_back({LinkNews::Kind::lost, "connection refused"});
      return;
    }
    Connection& made = state_->connections[number_];
    made.number = number_;
    made.key_name = key_name_;
    made.address = address_;
    state_->fly(made, {number_, Way::down, true, {}, {}, {}});
  }

  void disconnect() override {
    const MutexLock lock(state_->mutex);
    if (number_ != 0) state_->close(number_);
    number_ = 0;
  }

  Sent send(Bytes message) override {
    const MutexLock lock(state_->mutex);
    return state_->send(number_, Way::up, std::move(message));
  }

  std::optional<Bytes> receive() override {
    const MutexLock lock(state_->mutex);
    const auto found = state_->down.find(number_);
    if (found == state_->down.end()) return std::nullopt;
    while (auto flying = state_->take(found->second)) {
      if (!flying->connected_news) return std::move(flying->message);
      state_->connections[number_].up = true;
      state_->news[number_].push_back({LinkNews::Kind::connected, {}});
    }
    return std::nullopt;
  }

  std::optional<LinkNews> news() override {
    const MutexLock lock(state_->mutex);
    const auto found = state_->news.find(number_);
    if (found == state_->news.end() || found->second.empty()) return std::nullopt;
    LinkNews first = std::move(found->second.front());
    found->second.pop_front();
    return first;
  }

  void wait(Millis) override {}
  int wait_fd() const override { return -1; }
  void wake() override {}

 private:
  std::shared_ptr<State> state_;
  std::string key_name_, address_;
  std::uint64_t number_ = 0;
};

class Network::Server final : public ServerPort {
 public:
  explicit Server(std::shared_ptr<State> state) : state_(std::move(state)) {
    const MutexLock lock(state_->mutex);
    state_->end_server(state_->server);
    number_ = state_->server = ++state_->servers_made;
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() override {
    const MutexLock lock(state_->mutex);
    state_->end_server(number_);
  }

  std::optional<Incoming> receive() override {
    const MutexLock lock(state_->mutex);
    if (state_->server != number_) return std::nullopt;
    auto flying = state_->take(state_->up);
    if (!flying) return std::nullopt;
    return Incoming{peer_of(flying->connection), std::move(flying->key_name),
                    std::move(flying->address), std::move(flying->message)};
  }

  Sent send(const PeerId& peer, Bytes message) override {
    const MutexLock lock(state_->mutex);
    if (state_->server != number_ || !peer.starts_with("peer-")) return Sent::gone;
    return state_->send(std::stoull(peer.substr(5)), Way::down, std::move(message));
  }

  std::optional<Refused> refused() override { return std::nullopt; }
  void wait(Millis) override {}
  int wait_fd() const override { return -1; }
  void wake() override {}

 private:
  std::shared_ptr<State> state_;
  std::uint64_t number_ = 0;
};

Network::Network(std::uint64_t seed, LinkOptions options)
    : state_(std::make_shared<State>(seed, options)) {}
Network::~Network() = default;

std::unique_ptr<ClientPort> Network::client(std::string key_name, std::string address) {
  return std::make_unique<Client>(state_, std::move(key_name), std::move(address));
}

std::unique_ptr<ServerPort> Network::server() {
  return std::make_unique<Server>(state_);
}

void Network::advance(Millis steady) {
  const MutexLock lock(state_->mutex);
  state_->now = std::max(state_->now, steady);
}

void Network::set(const LinkOptions& options) {
  const MutexLock lock(state_->mutex);
  state_->options = options;
}

void Network::cut(const std::string& address, bool off) {
  const MutexLock lock(state_->mutex);
  if (off)
    state_->cut.insert(address);
  else
    state_->cut.erase(address);
}

void Network::cut_server(bool off) {
  const MutexLock lock(state_->mutex);
  state_->server_cut = off;
}

void Network::reset(const std::string& address) {
  const MutexLock lock(state_->mutex);
  std::vector<std::uint64_t> theirs;
  for (const auto& [number, connection] : state_->connections)
    if (connection.address == address) theirs.push_back(number);
  for (const std::uint64_t number : theirs) state_->break_off(number);
}

Counts Network::counts() const {
  const MutexLock lock(state_->mutex);
  return state_->counts;
}

}  // namespace l4::wire::simulation
