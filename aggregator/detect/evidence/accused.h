// Whom the lines of a job blame: what they name as failed, missing or silent, found again among the
// job's nodes and ranks.
//
// Place in the flow: parameters that the agents marked as blamed (common/parameters/blame.h) come
// with the events of a JobView; diagnosis makes suspects of the answer. A name is compared with the
// names of nodes, with and without their domain, and with what every node says of itself: its
// address, its host name. Somebody who wrote no line is an Outsider. A line about its own speaker
// blames nobody else, and one that names most of the job is a list. Pure.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "common/wire/definitions.h"

namespace l4::job {
struct EventView;
struct JobView;
}  // namespace l4::job

namespace l4::detect {

/// A node or rank that lines name and that wrote none itself.
struct Outsider {
  std::string node;  ///< empty: only the rank is known, or a node of the job has it
  std::optional<Rank> rank;
  /// JobView::nodes: the node of the job that the lines name beside the rank.
  std::optional<std::uint32_t> home = std::nullopt;
  auto operator<=>(const Outsider&) const = default;
};

/// Whom one event blames: indices into JobView::nodes, JobView::ranks and Accusers::outsiders().
struct Accused {
  std::vector<std::uint32_t> nodes, ranks, outsiders;
  bool by_peers = false;  ///< only ranks say so, no launcher, operator or driver
  bool empty() const { return nodes.empty() && ranks.empty() && outsiders.empty(); }
};

class Accusers {
 public:
  /// `view` must outlive it.
  explicit Accusers(const job::JobView& view);

  /// `of_itself`: the speaker is no rank, and its node is meant where the line names that.
  Accused of(const job::EventView& event, bool of_itself = false);
  /// All that of() has found so far.
  const std::vector<Outsider>& outsiders() const { return outsiders_; }

 private:
  struct Tuple;
  std::optional<std::uint32_t> node_of(std::string_view name) const;
  void learn_own_names();
  void take(const wire::Parameter& value, Tuple& tuple) const;
  void take_local(std::int32_t local, Tuple& tuple) const;
  bool may_be_outside(const wire::Parameter& value) const;
  bool may_be_outside(Rank rank) const;
  void add(Tuple&& tuple, Accused& to);
  std::uint32_t outsider(const Outsider& one);
  void name_hosts(const job::EventView& event, Accused& to) const;
  bool is_list(const Accused& accused) const;

  const job::JobView& view_;
  std::unordered_multimap<std::string_view, std::uint32_t> by_name_;  // short names
  std::unordered_map<std::string_view, std::uint32_t> own_names_;  // what nodes say of themselves
  std::unordered_multimap<std::int32_t, std::uint32_t> by_rank_;
  std::int32_t rank_max_ = -1;
  bool named_by_address_ = false;
  std::vector<Outsider> outsiders_;
  std::map<std::pair<std::string, std::optional<Rank>>, std::uint32_t> places_;  // of outsiders_
};

}  // namespace l4::detect
