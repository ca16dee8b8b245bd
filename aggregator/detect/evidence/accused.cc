#include "aggregator/detect/evidence/accused.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "aggregator/detect/evidence/wording.h"
#include "aggregator/job/share.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/evidence.h"

namespace l4::detect {
namespace {

using wire::Parameter;
using wire::ParameterKind;

constexpr std::string_view kLocalRank = "local rank ";

/// "node-7" of "node-7.cluster".
std::string_view short_name(std::string_view host) {
  return host.substr(0, host.find('.'));
}

bool is_address(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
}

/// "gpu-" of "gpu-17", "train-worker-" of "train-worker-2": the part that nodes of a job share.
std::string_view stem_of(std::string_view name) {
  return name.substr(0, name.find_first_of("0123456789"));
}

/// True for names of one family: "bert-worker-2" and "bert-launcher-x7k9" are pods of one job.
bool is_akin(std::string_view one, std::string_view other) {
  constexpr std::size_t kFrontMin = 4;
  const std::string_view stem = stem_of(one);
  if (!stem.empty() && stem_of(other) == stem) return true;
  const auto end = std::ranges::mismatch(one, other).in1;
  const std::string_view shared{one.begin(), end};
  const std::size_t dash = shared.rfind('-');
  return dash != shared.npos && dash + 1 >= kFrontMin;
}

std::optional<std::int32_t> number(std::string_view text) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void insert(std::vector<std::uint32_t>& list, std::uint32_t value) {
  if (std::ranges::find(list, value) == list.end()) list.push_back(value);
}

/// "[node-7 - fabric.c:611] no manager": the only name, before the message, is the speaker's own.
/// (The mask of a template may hold the end of the bracket.)
bool is_prefix(std::string_view text, const job::ParameterSeen& seen, const Parameter& host) {
  const auto hosts = std::ranges::count(seen.values, ParameterKind::host, &Parameter::kind);
  const std::string_view stem = stem_of(host.value);
  return hosts == 1 && !stem.empty() && text.starts_with('[') && text.substr(1).starts_with(stem);
}

/// A line about the connection to somebody else does not tell the speaker's own name.
bool is_about_others(std::string_view text) {
  constexpr std::array<std::string_view, 6> kWords{"peer",  "emote", "onnect",
                                                   "aster", "->",    " from "};
  return std::ranges::any_of(kWords, [&](std::string_view word) { return text.contains(word); });
}

}  // namespace

/// What one tuple of parameters blames, and who said so.
struct Accusers::Tuple {
  const job::ParameterSeen* seen = nullptr;
  std::vector<std::uint32_t> nodes, ranks;
  std::vector<std::string> unknown_nodes;
  std::vector<Rank> unknown_ranks;
  bool of_itself = false;  ///< its speaker's own node may be meant
};

Accusers::Accusers(const job::JobView& view) : view_(view) {
  for (std::uint32_t node = 0; node < view.nodes.size(); ++node) {
    by_name_.emplace(short_name(view.nodes[node].name), node);
    named_by_address_ = named_by_address_ || is_address(view.nodes[node].name);
  }
  for (std::uint32_t rank = 0; rank < view.ranks.size(); ++rank) {
    if (view.ranks[rank].launcher || !view.ranks[rank].rank) continue;
    by_rank_.emplace(view.ranks[rank].rank->value(), rank);
    rank_max_ = std::max(rank_max_, view.ranks[rank].rank->value());
  }
  learn_own_names();
}

/// An event in which every node names one address or host, and each another one, tells which name
/// is whose: "Bootstrap : Using eth0:10.0.0.12<0>".
void Accusers::learn_own_names() {
  if (view_.nodes.size() < 2) return;
  for (const job::EventView& event : view_.events) {
    if (event.level > Level::info || event.parameters.size() < 2) continue;
    std::map<std::uint32_t, std::set<std::string_view>> names;  // by node
    for (const job::ParameterSeen& seen : event.parameters)
      for (const Parameter& value : seen.values)
        if ((value.kind == ParameterKind::address || value.kind == ParameterKind::host) &&
            !value.blamed)
          for (const std::uint32_t stream : seen.streams)
            names[view_.streams[stream].node].insert(value.value);
    std::set<std::string_view> all;
    for (const auto& [node, own] : names)
      if (own.size() == 1) all.insert(*own.begin());
    if (names.size() < 2 || all.size() != names.size() || is_about_others(event.text) ||
        severity_of(event.text, event.level) != Severity::none)
      continue;
    for (const auto& [node, own] : names) own_names_.emplace(*own.begin(), node);
  }
}

std::optional<std::uint32_t> Accusers::node_of(std::string_view name) const {
  const auto [from, to] = by_name_.equal_range(short_name(name));
  for (auto at = from; at != to; ++at) {  // "node-7" and "node-7.cluster" are one node
    const std::string_view known = view_.nodes[at->second].name;
    if (known == name || known == at->first || name == at->first) return at->second;
  }
  if (const auto own = own_names_.find(name); own != own_names_.end()) return own->second;
  if (!is_address(name)) return std::nullopt;
  std::string host = "ip-" + std::string(name);  // as AWS names its hosts
  std::ranges::replace(host, '.', '-');
  const auto aws = by_name_.find(host);
  return aws == by_name_.end() ? std::nullopt : std::optional(aws->second);
}

/// A name unlike those of the job's nodes may be another name of one of them.
bool Accusers::may_be_outside(const Parameter& value) const {
  if (view_.nodes.size() <= 1) return true;
  if (value.kind == ParameterKind::address) return named_by_address_;
  return std::ranges::any_of(
      view_.nodes, [&](const job::NodeView& node) { return is_akin(value.value, node.name); });
}

/// A number far beyond the known ranks is no rank of this job; rank 0 alone may speak for all.
bool Accusers::may_be_outside(Rank rank) const {
  return rank.value() < (rank_max_ <= 0 ? numbers::evidence().ranks_max
                                        : numbers::evidence().ranks_times * (rank_max_ + 1));
}

void Accusers::take(const Parameter& value, Tuple& tuple) const {
  if (value.kind == ParameterKind::host || value.kind == ParameterKind::address) {
    if (const auto node = node_of(value.value))
      insert(tuple.nodes, *node);
    else if (may_be_outside(value))
      tuple.unknown_nodes.push_back(value.value);
  } else if (value.kind == ParameterKind::rank) {
    const auto rank = number(value.value);
    if (!rank) return;
    const auto [from, to] = by_rank_.equal_range(*rank);
    for (auto at = from; at != to; ++at) insert(tuple.ranks, at->second);
    if (from == to && may_be_outside(Rank{*rank})) tuple.unknown_ranks.emplace_back(*rank);
  } else if (value.kind == ParameterKind::device && value.value.starts_with(kLocalRank)) {
    const auto local = number(std::string_view(value.value).substr(kLocalRank.size()));
    if (local) take_local(*local, tuple);
  }
}

/// A local rank is one of the speaker's own node. On the only node of a job it is the rank.
void Accusers::take_local(std::int32_t local, Tuple& tuple) const {
  const bool alone = view_.nodes.size() == 1;
  const std::size_t before = tuple.ranks.size();
  for (const std::uint32_t stream : tuple.seen->streams)
    for (const std::uint32_t one : view_.nodes[view_.streams[stream].node].ranks) {
      const job::RankView& rank = view_.ranks[one];
      if (rank.launcher) continue;
      if (rank.local_rank == local || (alone && rank.rank == Rank{local})) insert(tuple.ranks, one);
    }
  if (!alone || tuple.ranks.size() > before || !may_be_outside(Rank{local})) return;
  insert(tuple.nodes, 0);
  tuple.unknown_ranks.emplace_back(local);
}

std::uint32_t Accusers::outsider(const Outsider& one) {
  const auto [place, created] = places_.try_emplace(std::pair(one.node, one.rank),
                                                    static_cast<std::uint32_t>(outsiders_.size()));
  if (created)
    outsiders_.push_back(one);
  else if (!outsiders_[place->second].home)
    outsiders_[place->second].home = one.home;
  return place->second;
}

void Accusers::add(Tuple&& tuple, Accused& to) {
  const auto spoken_on = [&](auto is_own) {
    return std::ranges::any_of(tuple.seen->streams,
                               [&](std::uint32_t stream) { return is_own(view_.streams[stream]); });
  };
  const bool lives_here =
      tuple.nodes.size() == 1 && tuple.unknown_nodes.empty() && tuple.unknown_ranks.size() == 1;
  const auto home = lives_here ? std::optional(tuple.nodes[0]) : std::nullopt;
  // A rank is more exact than its node, which the same line names.
  std::erase_if(tuple.nodes, [&](std::uint32_t node) {
    return std::ranges::any_of(tuple.ranks,
                               [&](std::uint32_t rank) { return view_.ranks[rank].node == node; });
  });
  for (const std::uint32_t node : tuple.nodes)
    if (tuple.of_itself ||
        !spoken_on([&](const job::StreamView& stream) { return stream.node == node; }))
      insert(to.nodes, node);
  for (const std::uint32_t rank : tuple.ranks)
    if (!spoken_on([&](const job::StreamView& stream) { return stream.rank == rank; }))
      insert(to.ranks, rank);
  if (tuple.unknown_nodes.size() == 1 && tuple.unknown_ranks.size() == 1) {
    insert(to.outsiders, outsider({tuple.unknown_nodes[0], tuple.unknown_ranks[0]}));
    return;
  }
  for (const std::string& node : tuple.unknown_nodes)
    insert(to.outsiders, outsider({node, std::nullopt}));
  for (const Rank rank : tuple.unknown_ranks) insert(to.outsiders, outsider({"", rank, home}));
}

/// Names without a complaint beside them: the nodes, unless one of them speaks.
void Accusers::name_hosts(const job::EventView& event, Accused& to) const {
  for (const job::ParameterSeen& seen : event.parameters)
    for (const Parameter& value : seen.values)
      if (value.kind == ParameterKind::host && !is_prefix(event.text, seen, value))
        if (const auto node = node_of(value.value)) insert(to.nodes, *node);
  const bool itself = std::ranges::any_of(event.at, [&](const job::Occurrence& occurrence) {
    return std::ranges::find(to.nodes, view_.streams[occurrence.stream].node) != to.nodes.end();
  });
  if (itself || !job::is_few(to.nodes.size(), view_.nodes.size())) to.nodes.clear();
}

bool Accusers::is_list(const Accused& accused) const {
  const auto many = [](std::size_t some, std::size_t all) {
    return some > 1 && !job::is_few(some, all);
  };
  return many(accused.nodes.size(), view_.nodes.size()) ||
         many(accused.ranks.size(), view_.training_ranks()) ||
         accused.outsiders.size() > numbers::evidence().unknown_max;
}

Accused Accusers::of(const job::EventView& event, bool of_itself) {
  Accused accused;
  bool any = false;
  for (const job::ParameterSeen& seen : event.parameters) {
    if (std::ranges::none_of(seen.values, &Parameter::blamed)) continue;
    any = true;
    Tuple tuple;
    tuple.seen = &seen;
    tuple.of_itself = of_itself;
    for (const Parameter& value : seen.values)
      if (value.blamed) take(value, tuple);
    add(std::move(tuple), accused);
  }
  if (!any) name_hosts(event, accused);
  if (is_list(accused)) return {};
  accused.by_peers = std::ranges::all_of(event.at, [&](const job::Occurrence& occurrence) {
    const job::RankView& speaker = view_.ranks[view_.streams[occurrence.stream].rank];
    return !speaker.launcher && speaker.rank.has_value();
  });
  return accused;
}

}  // namespace l4::detect
