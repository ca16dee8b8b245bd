#include "aggregator/alert/delivery.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "aggregator/alert/alert.h"

namespace l4::alert {
namespace {

/// Memory's rows count apart from those of the database.
std::string id_of(const store::Alert& row, bool in_memory) {
  return fmt::format("{}.{}{}", row.sink, in_memory ? "m" : "", row.id);
}

bool is_of_incident(const std::string& event) {
  return event == name(Kind::opened) || event == name(Kind::changed) ||
         event == name(Kind::resolved);
}

Delivery delivery_of(const store::Alert& row, bool in_memory) {
  Delivery made;
  made.id = id_of(row, in_memory);
  made.sink = row.sink;
  made.event = row.event;
  if (is_of_incident(row.event)) made.incident = row.incident;
  made.job = row.job;
  made.line = row.line;
  made.created = row.created;
  return made;
}

}  // namespace

std::string_view name(Delivery::Status status) {
  static constexpr std::array<std::string_view, 3> kNames{"waiting", "taken", "lost"};
  return kNames.at(static_cast<std::size_t>(status));
}

/// The row becomes the newest one.
Delivery& DeliveryLog::find(const store::Alert& row, bool in_memory) {
  const auto at = std::ranges::find(tried_, id_of(row, in_memory), &Delivery::id);
  Delivery found = at != tried_.end() ? std::move(*at) : delivery_of(row, in_memory);
  if (at != tried_.end()) tried_.erase(at);
  if (tried_.size() >= kMost) tried_.pop_front();
  return tried_.emplace_back(std::move(found));
}

void DeliveryLog::note(const store::Alert& row, bool in_memory, const std::string& trouble,
                       TimeMs now) {
  Delivery& one = find(row, in_memory);
  one.tried = now;
  one.trouble = trouble;
  if (trouble.empty()) {
    one.status = Delivery::Status::taken;
    one.failures = 0;
    ++one.taken;
  } else {
    one.status = Delivery::Status::waiting;
    ++one.failures;
  }
}

void DeliveryLog::note_lost(const store::Alert& row, TimeMs now) {
  Delivery& one = find(row, true);
  one.status = Delivery::Status::lost;
  if (!one.tried) one.tried = now;
}

std::vector<Delivery> DeliveryLog::joined(const std::vector<store::Alert>& stored,
                                          const std::vector<store::Alert>& in_memory) const {
  std::vector<Delivery> all;
  all.reserve(stored.size() + in_memory.size() + tried_.size());
  const auto add = [&](const store::Alert& row, bool memory) {
    const auto at = std::ranges::find(tried_, id_of(row, memory), &Delivery::id);
    Delivery& one = all.emplace_back(at != tried_.end() ? *at : delivery_of(row, memory));
    one.status = Delivery::Status::waiting;
    one.failures = std::max(one.failures, row.tries);
    one.next = row.due;
  };
  for (const store::Alert& row : stored) add(row, false);
  for (const store::Alert& row : in_memory) add(row, true);
  // A row that failed and waits no longer gave way to newer news of its incident.
  const std::size_t waiting = all.size();
  for (auto one = tried_.rbegin(); one != tried_.rend(); ++one)
    if (one->status != Delivery::Status::waiting &&
        std::ranges::find(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(waiting), one->id,
                          &Delivery::id) == all.begin() + static_cast<std::ptrdiff_t>(waiting))
      all.push_back(*one);
  return all;
}

}  // namespace l4::alert
