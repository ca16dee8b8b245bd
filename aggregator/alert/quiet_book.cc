#include "aggregator/alert/quiet_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "aggregator/alert/filter.h"
#include "aggregator/serve/shell_pattern.h"
#include "aggregator/serve/utf8.h"

namespace l4::alert {
namespace {

using Why = QuietRefusal::Why;

template <class T>
using Rows = std::vector<T>;

template <class T>
Rows<T> read_rows(Result<Rows<T>> rows, const std::function<void(const std::string&)>& warn) {
  if (rows) return std::move(*rows);
  warn("what was acknowledged and what is in maintenance is not known: " + rows.error().text());
  return {};
}

std::unexpected<QuietRefusal> not_stored(const Error& error) {
  return std::unexpected(QuietRefusal{Why::database, "it is not stored: " + error.text()});
}

AlertFilter filter_of(const store::Maintenance& maintenance) {
  if (maintenance.kind == "node") return {.nodes = {maintenance.pattern}};
  return {.jobs = {maintenance.pattern}};
}

bool is_of(const store::Maintenance& maintenance, std::string_view kind, const std::string& name) {
  return maintenance.kind == kind && serve::matches_pattern(maintenance.pattern, name);
}

}  // namespace

QuietBook::QuietBook(store::Database& database, const std::function<void(const std::string&)>& warn)
    : database_(database) {
  const MutexLock lock(mutex_);
  for (auto& row : read_rows(database.acknowledgements(), warn))
    acknowledged_.emplace(row.incident, std::move(row));
  for (auto& row : read_rows(database.held_incidents(), warn))
    held_.emplace(row.incident, std::move(row));
  for (auto& row : read_rows(database.maintenance(), warn))
    maintenance_.emplace(row.id, std::move(row));
  bound();
}

QuietAnswer<store::Acknowledgement> QuietBook::acknowledge(store::Acknowledgement told) {
  const MutexLock lock(mutex_);
  if (const auto at = acknowledged_.find(told.incident);
      at != acknowledged_.end() && at->second.who != told.who)
    return std::unexpected(QuietRefusal{
        Why::conflict, fmt::format("{} has acknowledged incident {} at {}; take that back first",
                                   at->second.who, told.incident, to_rfc3339(at->second.at))});
  if (const auto stored = database_.save(told); !stored) return not_stored(stored.error());
  acknowledged_.insert_or_assign(told.incident, told);
  bound();
  return told;
}

QuietAnswer<store::Acknowledgement> QuietBook::take_back(const std::string& incident) {
  const MutexLock lock(mutex_);
  const auto at = acknowledged_.find(incident);
  if (at == acknowledged_.end())
    return std::unexpected(QuietRefusal{
        Why::unknown,
        fmt::format("nobody has acknowledged an incident {}", serve::cut(incident, 200))});
  if (const auto dropped = database_.drop_acknowledgement(incident); !dropped)
    return not_stored(dropped.error());
  store::Acknowledgement gone = std::move(at->second);
  acknowledged_.erase(at);
  return gone;
}

std::optional<store::Acknowledgement> QuietBook::acknowledgement(
    const std::string& incident) const {
  const MutexLock lock(mutex_);
  const auto at = acknowledged_.find(incident);
  return at == acknowledged_.end() ? std::nullopt : std::optional(at->second);
}

QuietAnswer<store::Maintenance> QuietBook::begin(store::Maintenance told) {
  const MutexLock lock(mutex_);
  const auto active = std::ranges::count_if(
      maintenance_, [&](const auto& one) { return !one.second.is_over(told.began); });
  if (static_cast<std::size_t>(active) >= kActiveMax)
    return std::unexpected(QuietRefusal{
        Why::conflict, fmt::format("{} maintenances have not ended; end one first", active)});
  told.id = 0;
  const auto id = database_.save(told);
  if (!id) return not_stored(id.error());
  told.id = *id;
  maintenance_.insert_or_assign(told.id, told);
  bound();
  return told;
}

QuietAnswer<store::Maintenance> QuietBook::end(std::int64_t id, const std::string& who,
                                               TimeMs now) {
  const MutexLock lock(mutex_);
  const auto at = maintenance_.find(id);
  if (at == maintenance_.end())
    return std::unexpected(QuietRefusal{
        Why::unknown, fmt::format("there is no maintenance {}", maintenance_name(id))});
  if (at->second.is_over(now))
    return std::unexpected(QuietRefusal{
        Why::conflict, fmt::format("maintenance {} was over at {}", maintenance_name(id),
                                   to_rfc3339(at->second.end()))});
  store::Maintenance ended = at->second;
  ended.ended = now;
  ended.ended_by = who;
  if (const auto stored = database_.save(ended); !stored) return not_stored(stored.error());
  at->second = ended;
  return ended;
}

std::vector<store::Maintenance> QuietBook::maintenance(TimeMs now, bool over) const {
  const MutexLock lock(mutex_);
  std::vector<store::Maintenance> rows;
  for (const auto& [id, row] : maintenance_)
    if (over || !row.is_over(now)) rows.push_back(row);
  std::ranges::reverse(rows);
  return rows;
}

template <class Matches>
std::optional<store::Maintenance> QuietBook::last_of(TimeMs now, Matches matches) const {
  const store::Maintenance* last = nullptr;
  for (const auto& [id, row] : maintenance_)
    if (!row.is_over(now) && matches(row) && (last == nullptr || row.until > last->until))
      last = &row;
  return last == nullptr ? std::nullopt : std::optional(*last);
}

std::optional<store::Maintenance> QuietBook::holds(const Alert& alert, TimeMs now) const {
  const MutexLock lock(mutex_);
  return last_of(now,
                 [&](const store::Maintenance& row) { return silences(filter_of(row), alert); });
}

std::optional<store::Maintenance> QuietBook::of_job(const std::string& job, TimeMs now) const {
  const MutexLock lock(mutex_);
  return last_of(now, [&](const store::Maintenance& row) { return is_of(row, "job", job); });
}

std::optional<store::Maintenance> QuietBook::of_node(const std::string& node, TimeMs now) const {
  const MutexLock lock(mutex_);
  return last_of(now, [&](const store::Maintenance& row) { return is_of(row, "node", node); });
}

/// A mark that cannot be stored still counts until the next start.
void QuietBook::note_held(const std::string& incident, std::int64_t maintenance, TimeMs now) {
  const MutexLock lock(mutex_);
  const auto at = held_.find(incident);
  if (at != held_.end() && at->second.maintenance == maintenance) return;
  store::HeldIncident row{incident, maintenance, now};
  static_cast<void>(database_.save(row));
  held_.insert_or_assign(incident, std::move(row));
  bound();
}

std::optional<store::Maintenance> QuietBook::held(const std::string& incident) const {
  const MutexLock lock(mutex_);
  const auto mark = held_.find(incident);
  if (mark == held_.end()) return std::nullopt;
  const auto at = maintenance_.find(mark->second.maintenance);
  return at == maintenance_.end() ? std::nullopt : std::optional(at->second);
}

std::map<std::int64_t, std::uint64_t> QuietBook::held_incidents() const {
  const MutexLock lock(mutex_);
  std::map<std::int64_t, std::uint64_t> counts;
  for (const auto& [incident, row] : held_) ++counts[row.maintenance];
  return counts;
}

QuietCounts QuietBook::counts(TimeMs now) const {
  const MutexLock lock(mutex_);
  QuietCounts counts;
  counts.acknowledged = acknowledged_.size();
  for (const auto& [id, row] : maintenance_) counts.maintenance += row.is_over(now) ? 0 : 1;
  return counts;
}

/// The database bounds its own rows (Database::retain).
void QuietBook::bound() {
  const auto drop_oldest = [](auto& rows, auto when, std::size_t most) {
    while (rows.size() > most)
      rows.erase(
          std::ranges::min_element(rows, {}, [&](const auto& one) { return when(one.second); }));
  };
  drop_oldest(acknowledged_, [](const auto& row) { return row.at; }, kIncidentsMax);
  drop_oldest(held_, [](const auto& row) { return row.at; }, kIncidentsMax);
  drop_oldest(maintenance_, [](const auto& row) { return row.end(); }, kMaintenanceMax);
}

std::string maintenance_name(std::int64_t id) {
  return fmt::format("m{}", id);
}

std::optional<std::int64_t> maintenance_id(std::string_view name) {
  std::int64_t id = 0;
  if (!name.starts_with('m')) return std::nullopt;
  const char* const end = name.data() + name.size();
  const auto [at, failed] = std::from_chars(name.data() + 1, end, id);
  if (failed != std::errc() || at != end || id <= 0 || maintenance_name(id) != name)
    return std::nullopt;
  return id;
}

}  // namespace l4::alert
