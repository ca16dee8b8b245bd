#include "aggregator/flows/causes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "aggregator/flows/numbers.h"

namespace l4::flows {
namespace {

double median_busy(const StepList& steps) {
  std::vector<double> all;
  for (const StepFacts* step : steps) all.push_back(step->busy());
  return median(std::move(all));
}

double value_or(double value, double fallback) {
  return std::isnan(value) ? fallback : value;
}

/// Places with at least `share` of the largest value, which must reach `least`; the largest first.
std::vector<std::uint32_t> outstanding(const std::vector<double>& values, double least,
                                       double share) {
  std::vector<std::uint32_t> found;
  double most = 0;
  for (const double value : values) most = std::max(most, value_or(value, 0));
  if (most < least) return found;
  for (std::uint32_t i = 0; i < values.size(); ++i)
    if (value_or(values[i], 0) >= share * most) found.push_back(i);
  std::ranges::stable_sort(
      found, [&](std::uint32_t one, std::uint32_t two) { return values[one] > values[two]; });
  return found;
}

}  // namespace

Explainer::Explainer(const JobPlan& plan, const StreamTable& table) : plan_(&plan), table_(&table) {
  for (std::uint32_t i = 0; i < plan.groups.size(); ++i) {
    if (plan.groups[i].label == Label::pipeline) continue;
    units_.push_back(unit_of(plan.groups[i].cards));
    units_.back().index = i;
  }
  for (std::uint32_t i = 0; i < plan.pipes.size(); ++i) {
    units_.push_back(unit_of({plan.pipes[i].src, plan.pipes[i].dst}));
    units_.back().is_pipe = true;
    units_.back().index = i;
  }
  std::set<std::uint32_t> servers;
  for (const std::uint32_t card : plan.cards) servers.insert(table.cards()[card].server);
  servers.erase(kNone);
  servers_.assign(servers.begin(), servers.end());
  seats_.resize(servers_.size());
  for (std::uint32_t g = 0; g < plan.groups.size(); ++g) {
    const auto& cards = plan.groups[g].cards;
    if (cards.size() < 3) continue;  // groups of two cannot tell who is late
    for (std::uint32_t i = 0; i < cards.size(); ++i) {
      const auto server = std::ranges::lower_bound(servers_, table.cards()[cards[i]].server);
      if (server != servers_.end() && *server == table.cards()[cards[i]].server)
        seats_[static_cast<std::size_t>(server - servers_.begin())].push_back({g, i});
    }
  }
  at_.seconds = plan.groups.size();
  at_.bytes = at_.seconds + plan.pipes.size();
  at_.services = at_.bytes + plan.pipes.size();
  at_.late = at_.services + plan.pipes.size();
  at_.wake = at_.late + servers_.size();
  at_.all = at_.wake + plan.cards.size();
}

StepFacts Explainer::facts_of(const JobStep& step) {
  constexpr double kMiB = 1 << 20;
  StepFacts facts;
  facts.begin = step.begin;
  facts.end = step.end;
  facts.partial = step.partial;
  facts.storage = step.storage;
  facts.wait = static_cast<double>(step.first_send - step.begin) / 1e9 - step.storage;
  facts.values.resize(at_.all);
  for (std::size_t g = 0; g < step.groups.size(); ++g)
    facts.values[g] = Short(step.groups[g].transfer);
  for (std::size_t p = 0; p < step.pipes.size(); ++p) {
    const PipeStep& pipe = step.pipes[p];
    facts.values[at_.seconds + p] = Short(static_cast<float>(pipe.seconds));
    facts.values[at_.bytes + p] = Short(static_cast<float>(pipe.bytes / kMiB));
    facts.values[at_.services + p] = Short(pipe.service);
  }
  put_lateness(step, facts);
  for (std::size_t card = 0; card < step.wake.size(); ++card)
    facts.values[at_.wake + card] = Short(step.wake[card]);
  return facts;
}

/// Of each server how much later than the first its cards came to the events of the step.
void Explainer::put_lateness(const JobStep& step, StepFacts& facts) {
  for (std::size_t server = 0; server < servers_.size(); ++server) {
    late_.clear();
    for (const Seat& seat : seats_[server]) {
      const auto& late = step.groups[seat.group].late;
      if (seat.card < late.size() && !std::isnan(late[seat.card])) late_.push_back(late[seat.card]);
    }
    float middle = kUnknown;
    if (!late_.empty()) {
      const auto at = late_.begin() + static_cast<std::ptrdiff_t>((late_.size() - 1) / 2);
      std::ranges::nth_element(late_, at);
      middle = *at;
    }
    facts.values[at_.late + server] = Short(middle);
  }
}

Explainer::Unit Explainer::unit_of(std::vector<std::uint32_t> cards) {
  Unit unit{std::move(cards), {}, false, 0};
  for (const std::uint32_t card : unit.cards) {
    const auto* known = table_->topology().card(table_->cards()[card].address);
    if (known == nullptr || known->leaf.empty()) continue;
    const auto at = std::ranges::find(switches_, known->leaf);
    const auto place = static_cast<std::uint32_t>(at - switches_.begin());
    if (at == switches_.end()) switches_.push_back(known->leaf);
    if (std::ranges::find(unit.switches, place) == unit.switches.end())
      unit.switches.push_back(place);
  }
  return unit;
}

std::string Explainer::name_of(std::uint32_t server) const {
  return table_->topology().servers()[server];
}

/// Of a group the time of its transfers, of a pipeline stream seconds a MiB; zero: nothing moved.
double Explainer::value_of(const Unit& unit, const StepFacts& step) const {
  if (!unit.is_pipe) return step.values[unit.index].value();
  const double bytes = step.values[at_.bytes + unit.index].value();
  return bytes > 0 ? step.values[at_.seconds + unit.index].value() / bytes : 0;
}

Explainer::Slowness Explainer::slowness(const Unit& unit, const StepList& steps,
                                        const StepList& before) const {
  std::vector<double> bytes;
  const auto values = [&](const StepList& all) {
    std::vector<double> found;
    found.reserve(all.size());
    for (const StepFacts* step : all)
      if (const double value = value_of(unit, *step); value > 0) {
        found.push_back(value);
        if (unit.is_pipe) bytes.push_back(step->values[at_.bytes + unit.index].value());
      }
    return found;
  };
  const double usual = median(values(before)), now = median(values(steps));
  if (usual <= 0 || now <= 0) return {};
  return {now / usual, (now - usual) * (unit.is_pipe ? median(bytes) : 1)};
}

std::optional<Explanation> Explainer::eliminate(const std::vector<const Unit*>& slow,
                                                const std::vector<const Unit*>& judged) const {
  constexpr double kTie = 0.051, kSwitch = 0.05, kLeast = 0.5;
  struct Touch {
    double slow = 0, all = 0;
  };
  std::map<std::uint32_t, Touch> cards;
  std::map<std::uint32_t, Touch> switches;
  const auto count = [&](const Unit& unit, double Touch::* field) {
    for (const std::uint32_t card : unit.cards) cards[card].*field += 1;
    for (const std::uint32_t place : unit.switches) switches[place].*field += 1;
  };
  for (const Unit* unit : slow) count(*unit, &Touch::slow);
  for (const Unit* unit : judged) count(*unit, &Touch::all);
  std::vector<std::pair<double, std::string>> scores;
  double best_card = 0, best_switch = 0;
  const auto score = [&](const Touch& touch) {
    return touch.slow / static_cast<double>(slow.size()) - (touch.all - touch.slow) / touch.all;
  };
  for (const auto& [card, touch] : cards) {
    scores.emplace_back(score(touch), to_text(table_->cards()[card].address));
    best_card = std::max(best_card, scores.back().first);
  }
  for (const auto& [place, touch] : switches) {
    scores.emplace_back(score(touch) - kSwitch, switches_[place]);
    best_switch = std::max(best_switch, scores.back().first);
  }
  const double best = std::max(best_card, best_switch);
  if (best < kLeast) return std::nullopt;
  std::ranges::stable_sort(scores, std::greater<>(), &std::pair<double, std::string>::first);
  Explanation found;
  found.cause = best_switch > best_card ? Cause::congested_switch : Cause::degraded_link;
  for (const auto& [value, name] : scores)
    if (value >= best - kTie) found.place.push_back(name);
  found.ambiguous = found.place.size() > 1;
  // An answer that names a quarter of the job names nothing.
  if (found.place.size() > 1 && found.place.size() * 4 > plan_->cards.size()) found.place.clear();
  return found;
}

/// Whether the ratio of slowness() reaches `ratio`: told by counting, while slowness() sorts.
bool Explainer::is_slower(const Unit& unit, const StepList& steps, const StepList& before,
                          double ratio) const {
  constexpr std::size_t kMost = 16;
  std::array<double, kMost> now{};
  std::size_t count = 0;
  for (const StepFacts* step : steps)
    if (const double value = value_of(unit, *step); value > 0 && count < kMost)
      now[count++] = value;
  if (count == 0) return false;
  const auto middle = now.begin() + static_cast<std::ptrdiff_t>((count - 1) / 2);
  std::nth_element(now.begin(), middle, now.begin() + static_cast<std::ptrdiff_t>(count));
  std::size_t faster = 0, all = 0;
  for (const StepFacts* step : before) {
    const double value = value_of(unit, *step);
    all += value > 0 ? 1 : 0;
    faster += value > 0 && value * ratio <= *middle ? 1 : 0;
  }
  return all > 0 && faster > (all - 1) / 2;
}

std::optional<Explanation> Explainer::slow_transfers(const StepList& steps, const StepList& before,
                                                     double ratio_min) const {
  constexpr double kPipeMore = 1.2, kLeastSeconds = 0.0005;
  const auto least = [&](const Unit& unit) { return ratio_min * (unit.is_pipe ? kPipeMore : 1); };
  std::vector<const Unit*> slow, judged;
  double worst = 1, group_seconds = 0, pipe_seconds = 0;
  for (const Unit& unit : units_) {
    if (!is_slower(unit, steps, before, least(unit))) continue;
    const Slowness own = slowness(unit, steps, before);
    if (own.seconds < kLeastSeconds) continue;
    slow.push_back(&unit);
    worst = std::max(worst, own.ratio);
    double& seconds = unit.is_pipe ? pipe_seconds : group_seconds;
    seconds = std::max(seconds, own.seconds);
  }
  if (slow.empty()) return std::nullopt;
  constexpr double kExplains = 0.4;
  const double excess = median_busy(steps) - median_busy(before);
  if (group_seconds + pipe_seconds < kExplains * excess) return std::nullopt;
  const auto moved = [&](const Unit& unit) {
    const auto own = [&](const StepFacts* step) { return value_of(unit, *step) > 0; };
    return std::ranges::any_of(steps, own) && std::ranges::any_of(before, own);
  };
  for (const Unit& unit : units_)
    if (moved(unit)) judged.push_back(&unit);
  auto found = eliminate(slow, judged);
  if (found) found->factor = worst;
  return found;
}

std::optional<Explanation> Explainer::blame(const std::vector<std::uint32_t>& slow,
                                            const std::vector<std::uint32_t>& judged) {
  constexpr std::size_t kSlowMin = 2;
  if (slow.size() < kSlowMin || slow.size() == judged.size()) return std::nullopt;
  std::vector<Unit> units;
  units.reserve(judged.size());
  std::vector<const Unit*> all, few;
  for (const std::uint32_t index : judged) {
    const Stream& stream = table_->streams()[index];
    units.push_back(unit_of({stream.src_card, stream.dst_card}));
    all.push_back(&units.back());
    if (std::ranges::binary_search(slow, index)) few.push_back(&units.back());
  }
  auto found = eliminate(few, all);
  if (found && found->place.empty()) found.reset();
  return found;
}

/// Of each server how much longer than usual its cards took from what a send needed to its start.
std::vector<double> Explainer::service_ratios(const StepFacts& step, const StepList& before) const {
  std::map<std::uint32_t, std::vector<double>> all;
  for (std::size_t p = 0; p < plan_->pipes.size(); ++p) {
    const std::size_t place = at_.services + p;
    const double now = step.values[place].value();
    if (std::isnan(now)) continue;
    std::vector<double> usual;
    for (const StepFacts* one : before)
      if (one->values[place].is_known()) usual.push_back(one->values[place].value());
    if (usual.size() < 3 || median(usual) <= 0) continue;
    all[table_->cards()[plan_->pipes[p].src].server].push_back(now / median(usual));
  }
  std::vector<double> found;
  found.reserve(servers_.size());
  for (const std::uint32_t server : servers_)  // a pause strikes forward or backward passes only
    found.push_back(all.contains(server) ? mean(all[server]) : kUnknown);
  return found;
}

std::vector<std::uint32_t> Explainer::late_servers(const StepFacts& step, const StepList& before,
                                                   double excess) const {
  constexpr double kShare = 0.7, kOfExcess = 0.3, kRatioMin = 0.05;
  const double usual = median_busy(before);
  std::vector<double> ratios = service_ratios(step, before);
  for (double& ratio : ratios) ratio -= 1;
  std::vector<std::uint32_t> found =
      outstanding(ratios, std::max(kRatioMin, kOfExcess * excess / usual), kShare);
  if (found.empty()) {
    std::vector<double> late;
    for (std::size_t s = 0; s < servers_.size(); ++s) {
      const std::size_t place = at_.late + s;
      std::vector<double> own;
      for (const StepFacts* one : before)
        if (one->values[place].is_known()) own.push_back(one->values[place].value());
      late.push_back(step.values[place].value() - median(own));
    }
    found = outstanding(late, kOfExcess * excess, kShare);
  }
  for (std::uint32_t& one : found) one = servers_[one];
  return found;
}

/// The step began late: its first send came later than usual by most of the excess.
bool Explainer::begins_late(const StepFacts& step, const StepList& before, double excess) const {
  constexpr double kMost = 0.5;
  std::vector<double> usual;
  for (const StepFacts* one : before) usual.push_back(one->wait);
  if (step.wait - median(usual) > kMost * excess) return true;
  for (std::size_t place = at_.wake; place < at_.all; ++place) {
    std::vector<double> own;
    for (const StepFacts* one : before)
      if (one->values[place].is_known()) own.push_back(one->values[place].value());
    if (own.size() >= 3 && step.values[place].value() - median(own) > kMost * excess) return true;
  }
  return false;
}

Explanation Explainer::explain(const StepList& slow, const StepList& before, bool is_over) const {
  constexpr double kTransfer = 1.5, kSame = 0.7;
  constexpr std::size_t kFew = 3, kNamed = 3;
  const double usual = median_busy(before);
  if (auto link = slow_transfers(slow, before, kTransfer)) return *link;
  Explanation found;
  found.factor = usual > 0 ? median_busy(slow) / usual : 1;
  std::map<std::uint32_t, std::size_t> worst, named;
  std::size_t told = 0, late_begins = 0;
  for (const StepFacts* step : slow) {
    const double excess = step->busy() - usual;
    const auto servers = late_servers(*step, before, excess);
    if (!servers.empty()) {
      ++told;
      ++worst[servers.front()];
    }
    for (const std::uint32_t server : servers) ++named[server];
    late_begins += begins_late(*step, before, excess);
  }
  const auto most = std::ranges::max_element(worst, {}, [](const auto& one) { return one.second; });
  const bool is_brief = slow.size() == 1 || (is_over && slow.size() <= kFew);
  if (is_brief)
    found.cause = late_begins * 2 > slow.size() ? Cause::data_stall : Cause::pause;
  else if (told > 0 && static_cast<double>(most->second) < kSame * static_cast<double>(told))
    found.cause = Cause::imbalance;
  else
    found.cause = Cause::slow_gpu;
  if (is_brief && told == 0) found.cause = Cause::data_stall;  // all ranks alike
  if (found.cause != Cause::imbalance && told > 0) {
    found.place.push_back(name_of(most->first));
    for (const auto& [server, count] : named)  // replicas of a pipeline are late together
      if (server != most->first && count == named[most->first] && slow.size() > 1)
        found.place.push_back(name_of(server));
    const std::size_t quarter = std::max<std::size_t>(2, servers_.size() / 4);
    found.place.resize(std::min({found.place.size(), kNamed, quarter}));
  }
  // Between two servers both ends of each transfer start together: either may be the late one.
  if (found.cause != Cause::imbalance && told == 0 && servers_.size() == 2)
    found.place = {name_of(servers_[0]), name_of(servers_[1])};
  found.ambiguous = found.place.size() > 1;
  return found;
}

}  // namespace l4::flows
