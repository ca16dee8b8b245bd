#include "tests/tools/fleet/simulated_fleet.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "tools/fleet/speech.h"

namespace l4::test {
namespace {

constexpr std::int64_t kStepMs = 50;
constexpr Millis kSettleMost{120'000};

/// The first node of a report.
std::string first_node(const std::string& report) {
  constexpr std::string_view kNodes = "\"nodes\": [", kNode = "\"node\": \"";
  const auto nodes = report.find(kNodes);
  if (nodes == std::string::npos) return {};
  const auto begin = report.find(kNode, nodes);
  if (begin == std::string::npos) return {};
  const auto from = begin + kNode.size();
  return report.substr(from, report.find('"', from) - from);
}

}  // namespace

SimulatedFleet::SimulatedFleet(fleet::Script given, std::filesystem::path folder)
    : script(std::move(given)),
      folder_(std::move(folder)),
      random_(script.seed),
      network_(script.seed, {0.02, 0.01, Millis{1}, Millis{60}, true}) {
  options_.store.folder = folder_;
  options_.store.commit.delay_max = Millis{1};
  options_.shards.shards = 2;
  options_.shards.job.thresholds.watch.suspect_floor = Millis{10'000};
  options_.shards.job.thresholds.watch.confirm_floor = Millis{60'000};
  options_.server.liveness.grace = Millis{20'000};
  network_.advance(now().steady);
  start();
  for (std::size_t i = 0; i < script.jobs.size(); ++i) plans.emplace_back(script, i);
  for (const fleet::JobPlan& plan : plans)
    for (std::size_t i = 0; i < plan.job().nodes; ++i) {
      places.push_back({&plan, i, fleet::node_name(plan.job(), i)});
      const std::string name = places.back().name;
      auto make_port = [this, name](std::uint64_t seed) {
        return std::make_unique<fleet::LossyPort>(network_.client(name, name), script.link, cut_,
                                                  seed);
      };
      nodes.push_back(std::make_unique<fleet::Node>(places.back(), begin_, Millis{random_() % 1000},
                                                    make_port, random_()));
    }
}

void SimulatedFleet::start() {
  aggregator_.reset();
  port_.reset();
  port_ = network_.server();
  ++options_.server.incarnation;
  live::Surroundings around{*port_, nullptr, {}, {}, {}};
  around.say = [this](const std::string& text) { lines_.push_back(text); };
  around.now = [this] { return now(); };
  around.post = [](const alert::Request&) -> Result<unsigned> { return 200; };
  auto made = live::Aggregator::recover(options_, std::move(around));
  REQUIRE_MESSAGE(made, (made ? std::string() : made.error().text()));
  aggregator_ = std::move(*made);
}

void SimulatedFleet::strike(std::int64_t second) {
  if (cut_ && second >= cut_until_) cut_ = false;
  for (; next_fault_ < script.faults.size(); ++next_fault_) {
    const fleet::Fault& fault = script.faults[next_fault_];
    if (fault.at > second) return;
    if (fault.kind == fleet::Kind::restart) start();
    if (fault.kind != fleet::Kind::blind) continue;
    cut_ = true;
    cut_until_ = second + fault.lasts;
  }
}

void SimulatedFleet::step() {
  clock_ += kStepMs;
  network_.advance(now().steady);
  if (random_() % 400 == 0) network_.reset(places[random_() % places.size()].name);
  for (const auto& node : nodes) node->step(now());
  aggregator_->step_all(true);
}

bool SimulatedFleet::play() {
  for (std::int64_t second = 0; second < script.seconds;) {
    strike(second);
    step();
    second = (now().steady - begin_.steady).count() / 1000;
  }
  const auto level = [&] {
    return std::ranges::all_of(nodes, [](const auto& node) { return node->is_level(); });
  };
  for (Millis waited{0}; waited < kSettleMost; waited += Millis{kStepMs}) {
    if (level()) return true;
    clock_ += kStepMs;
    network_.advance(now().steady);
    for (const auto& node : nodes) node->step(now(), 0);
    aggregator_->step_all(true);
  }
  return false;
}

std::vector<fleet::Found> SimulatedFleet::found() {
  const auto rows = aggregator_->incidents({});
  REQUIRE(rows);
  std::vector<fleet::Found> found;
  for (const store::Incident& row : *rows) {
    const auto whole = aggregator_->incident(row.id);
    REQUIRE(whole);
    REQUIRE(*whole);
    found.push_back({row.id, row.job, row.state, first_node((*whole)->report),
                     static_cast<std::int32_t>(row.attempt), row.opened, row.resolved.has_value()});
  }
  return found;
}

fleet::Judgement SimulatedFleet::judgement() {
  return fleet::judge(script, plans, begin_.wall, script.seconds, found());
}

std::string SimulatedFleet::account() {
  std::string text;
  for (const fleet::Found& one : found())
    text += fmt::format("{} {} {} {} {} {}\n", one.id, one.attempt, one.state, one.first_node,
                        to_rfc3339(one.opened), one.resolved);
  for (const auto& node : nodes) {
    const auto stats = node->stats();
    text += fmt::format("{} {} {} {} {}\n", node->name(), counted(node->name()), stats.connects,
                        stats.batches_sent, stats.batches_sent_again);
  }
  const auto counts = network_.counts();
  text += fmt::format("{} {} {} {}\n", counts.sent, counts.delivered, counts.lost, counts.bytes);
  for (const std::string& line : lines_)
    if (line.find(" is lost:") != std::string::npos || line.starts_with("alert"))
      text += line + '\n';
  return text;
}

std::uint64_t SimulatedFleet::counted(const std::string& node) const {
  std::uint64_t lines = 0;
  for (const fleet::JobPlan& plan : plans) {
    const scoring::LiveJob* job = aggregator_->find(plan.job().name);
    if (job == nullptr) continue;
    for (const wire::Coverage& part : job->state().coverage())
      if (part.path.starts_with(node + '/')) lines += part.lines;
  }
  return lines;
}

std::uint64_t SimulatedFleet::said(std::size_t node) const {
  fleet::Shipped shipped;
  std::uint64_t lines = 0;
  while (shipped.next < nodes[node]->next_second())
    if (const auto batch = fleet::next_batch(places[node], begin_.wall, shipped))
      for (const wire::Coverage& part : batch->coverage) lines += part.lines;
  return lines;
}

std::size_t SimulatedFleet::heard(const std::string& part) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      lines_, [&](const std::string& line) { return line.find(part) != std::string::npos; }));
}

}  // namespace l4::test
