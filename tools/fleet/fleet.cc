#include "tools/fleet/fleet.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <random>
#include <thread>
#include <utility>

#include "tools/fleet/speech.h"

namespace l4::fleet {
namespace {

constexpr int kNap = 5;  ///< milliseconds
constexpr Millis kSampleEvery{2'000}, kDrainMost{60'000}, kLogEvery{30'000};
constexpr rlim_t kFilesOfNode = 6, kFilesBeside = 64;
constexpr int kSocketsOfNode = 12;  ///< including those that are still being closed

wire::Instant now() {
  return {std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now().time_since_epoch()),
          std::chrono::floor<Millis>(std::chrono::system_clock::now())};
}

/// Raises the limit on open files as far as the system allows.
Result<void> allow_files(std::size_t nodes) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t needed = kFilesOfNode * nodes + kFilesBeside;
  if (limit.rlim_max >= needed) return {};
  return std::unexpected(Error{"file descriptors", fmt::format("{} nodes need {}, the limit is {}",
                                                               nodes, needed, limit.rlim_max)});
}

/// Key files, each read once.
class Keys {
 public:
  explicit Keys(std::filesystem::path folder) : folder_(std::move(folder)) {}

  Result<wire::NodeKey> of(const std::string& node) {
    const auto own = folder_ / "nodes" / (node + ".key");
    if (std::filesystem::exists(own)) return wire::load_node_key(own);
    if (!fleet_) {
      auto key = wire::load_node_key(folder_ / "nodes" / "fleet.key");
      if (!key) return key;
      fleet_ = std::move(*key);
    }
    return *fleet_;
  }

 private:
  std::filesystem::path folder_;
  std::optional<wire::NodeKey> fleet_;
};

}  // namespace

Fleet::Fleet(const Script& script, FleetOptions options, AggregatorProcess& aggregator)
    : script_(script),
      options_(std::move(options)),
      aggregator_(aggregator),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  for (std::size_t i = 0; i < script.jobs.size(); ++i) plans_.emplace_back(script, i);
}

Fleet::~Fleet() {
  ::close(epoll_);
}

Millis Fleet::age() const {
  return now().steady - begin_.steady;
}

Result<void> Fleet::make_nodes() {
  if (const auto files = allow_files(script_.nodes()); !files) return files;
  context_ =
      std::make_shared<wire::ZmqContext>(static_cast<int>(script_.nodes()) * kSocketsOfNode + 100);
  Keys keys(options_.keys);
  std::mt19937_64 random(script_.seed);
  std::uniform_int_distribution<std::int64_t> phase(0, 999);
  for (const JobPlan& plan : plans_)
    for (std::size_t i = 0; i < plan.job().nodes; ++i) {
      const std::string name = node_name(plan.job(), i);
      const auto key = keys.of(name);
      if (!key) return std::unexpected(key.error());
      const wire::ZmqClientOptions client{options_.endpoint, *key};
      if (const auto tried = wire::make_zmq_client(context_, client); !tried)
        return std::unexpected(tried.error());
      auto make_port = [this, client](std::uint64_t seed) {
        return std::make_unique<LossyPort>(*wire::make_zmq_client(context_, client), script_.link,
                                           cut_, seed);
      };
      Seat& seat = nodes_.emplace_back();
      seat.node = std::make_unique<Node>(PlannedNode{&plan, i, name}, begin_, Millis{phase(random)},
                                         std::move(make_port), random());
      listen_to(nodes_.size() - 1);
    }
  return {};
}

/// Applies the faults of the whole fleet.
Result<void> Fleet::strike() {
  const Millis passed = age();
  if (cut_ && passed >= cut_until_) {
    cut_ = false;
    options_.say(fmt::format("{} s: links are whole again", passed.count() / 1000));
  }
  if (aggregator_.has_died())
    return std::unexpected(Error{"the aggregator", "ended by itself; its log says why"});
  for (; next_fault_ < script_.faults.size(); ++next_fault_) {
    const Fault& fault = script_.faults[next_fault_];
    if (Millis{fault.at * 1000} > passed) break;
    options_.say(fmt::format("{} s: {}{}{}", fault.at, name(fault.kind),
                             fault.job.empty() ? "" : " in ", fault.job));
    if (fault.kind == Kind::blind) {
      cut_ = true;
      cut_until_ = passed + Millis{fault.lasts * 1000};
      outcome_.absences.push_back({fault.kind, passed, cut_until_, {}, false});
    }
    if (fault.kind != Kind::restart) continue;
    if (!aggregator_.is_ours())
      return std::unexpected(Error{"restart", "the aggregator was not started by the fleet"});
    aggregator_.kill();
    if (const auto started = aggregator_.start(); !started) return started;
    outcome_.absences.push_back({fault.kind, passed, passed, {}, false});
  }
  return {};
}

void Fleet::listen_to(std::size_t index) {
  Seat& seat = nodes_[index];
  if (seat.life == seat.node->lives() || seat.node->is_away()) return;
  seat.life = seat.node->lives();
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = index;
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, seat.node->wait_fd(), &event);
}

void Fleet::step_nodes() {
  std::array<epoll_event, 512> events;
  const int count = ::epoll_wait(epoll_, events.data(), events.size(), kNap);
  for (int i = 0; i < count; ++i)
    nodes_[events.at(static_cast<std::size_t>(i)).data.u64].ready = true;
  const wire::Instant instant = now();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Seat& seat = nodes_[i];
    if (!seat.ready && instant.steady < seat.due) continue;
    seat.ready = false;
    seat.due = seat.node->step(instant);
    listen_to(i);
  }
}

/// Notes when all agents are back from the newest absence.
void Fleet::note_return() {
  Absence& newest = outcome_.absences.back();
  const Millis passed = age();
  // A broken connection is noticed within this time; before, no agent counts as back.
  constexpr Millis kNoticed{1'000};
  if (newest.back || passed < newest.until + (newest.at > Millis{0} ? kNoticed : Millis{0})) return;
  if (std::ranges::all_of(nodes_, [](const Seat& seat) {
        return seat.node->is_away() || seat.node->is_connected();
      }))
    newest.back = passed;
}

void Fleet::drain() {
  const Millis end = age() + kDrainMost;
  const auto level = [&] {
    return std::ranges::all_of(nodes_, [](const Seat& seat) { return seat.node->is_level(); });
  };
  // A step ships everything that is due, so one moment without open batches proves that all is
  // counted.
  while (!(outcome_.level = level()) && age() < end) {
    const wire::Instant instant = now();
    for (Seat& seat : nodes_) seat.node->step(instant, 0);
    std::this_thread::sleep_for(Millis{kNap});
  }
}

void Fleet::log(const Sample& sample) {
  std::map<std::string_view, std::size_t> states;
  std::map<std::string, std::size_t> reasons;
  std::size_t held = 0;
  for (const Seat& seat : nodes_) {
    const Node* node = seat.node.get();
    ++states[node->state()];
    if (!node->is_connected() && !node->is_away()) ++reasons[node->last_notice()];
    held += node->held();
  }
  std::string text = fmt::format("{} s:", age().count() / 1000);
  for (const auto& [state, count] : states) text += fmt::format(" {} {},", count, state);
  for (const auto& [reason, count] : reasons) text += fmt::format(" {}x \"{}\",", count, reason);
  const Millis cpu = sample.usage.user + sample.usage.system;
  options_.say(fmt::format(
      "{} {} batches held; aggregator: {:.1f} s of CPU, {} MB, {} batches wait{}", text, held,
      static_cast<double>(cpu.count()) / 1000, sample.usage.resident_bytes / 1'000'000,
      sample.waiting, sample.blind ? ", blind" : ""));
}

Result<Outcome> Fleet::play() {
  begin_ = now();
  outcome_.absences.push_back({Kind::restart, Millis{0}, Millis{0}, {}, false});
  if (const auto made = make_nodes(); !made) return std::unexpected(made.error());
  outcome_.nodes = nodes_.size();
  Watcher watcher(
      options_.url, kSampleEvery, [this] { return aggregator_.usage(); }, [this] { return age(); });
  const Millis length{script_.seconds * 1000};
  Millis logged{0};
  while (age() < length) {
    if (age() - logged >= kLogEvery) {
      logged += kLogEvery;
      log(watcher.last());
    }
    if (const auto struck = strike(); !struck) return std::unexpected(struck.error());
    step_nodes();
    note_return();
  }
  outcome_.length = age();
  outcome_.samples = watcher.samples();
  drain();
  const auto found = ask_incidents(options_.url);
  if (!found) return std::unexpected(found.error());
  outcome_.judgement = judge(script_, plans_, begin_.wall, script_.seconds, *found);
  if (!outcome_.samples.empty()) outcome_.samples.back().figures = watcher.last().figures;
  for (Absence& absence : outcome_.absences)
    for (const Sample& sample : outcome_.samples)
      if (sample.blind && sample.at >= absence.at &&
          (!absence.back || sample.at <= *absence.back + Millis{60'000}))
        absence.seen_blind = true;
  for (const Fault& fault : script_.faults) {
    const auto job = std::ranges::find(script_.jobs, fault.job, &JobScript::name);
    if (fault.kind == Kind::lost && fault.at + script_.limits.lost_s <= script_.seconds)
      outcome_.lost_expected.insert(node_name(*job, fault.node));
  }
  for (const Seat& seat : nodes_) {
    Node* node = seat.node.get();
    add(outcome_.sessions, node->stats());
    const LossyPort::Counts link = node->link();
    outcome_.links.lost += link.lost;
    outcome_.links.held_up += link.held_up;
    outcome_.links.broken += link.broken;
    node->stop("the fleet ends");
  }
  return std::move(outcome_);
}

}  // namespace l4::fleet
