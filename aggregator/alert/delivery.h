// What became of alerts on their way to one sink, for people who ask.
//
// Flow: Sender writes each try into its DeliveryLog and joins it with the rows that wait ->
// Alerter::deliveries -> GET /api/v1/alerts. Bounds: the newest kMost rows that were tried since
// the start, in memory; what waits is in the database. No lock of its own: its Sender guards it.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/store/rows.h"

namespace l4::alert {

struct Delivery {
  enum class Status : std::uint8_t {
    waiting,  ///< not taken yet: it is due, or rests after a failure
    taken,    ///< an alert that lasts stays so while it is sent again
    lost,     ///< it could not be kept
  };
  std::string id, sink;  ///< the id is unique within the sink
  Status status = Status::waiting;
  std::string event;     ///< name() of its kind
  std::string incident;  ///< empty: it is about no incident
  std::string job, line;
  TimeMs created{};
  std::optional<TimeMs> tried;  ///< the last try
  std::optional<TimeMs> next;   ///< of one that waits: not before
  std::int64_t failures = 0;    ///< tries that failed since it was taken last
  std::int64_t taken = 0;       ///< how many times; more than once where alerts are repeated
  std::string trouble;          ///< why the last try failed; empty: it did not, or is not known
};
std::string_view name(Delivery::Status status);

class DeliveryLog {
 public:
  static constexpr std::size_t kMost = 64;

  /// A row that is in memory has an id of its own, which one of the database may have, too.
  void note(const store::Alert& row, bool in_memory, const std::string& trouble, TimeMs now);
  void note_lost(const store::Alert& row, TimeMs now);
  /// `waiting` in the order in which they are sent, then those that have been, newest first.
  std::vector<Delivery> joined(const std::vector<store::Alert>& stored,
                               const std::vector<store::Alert>& in_memory) const;

 private:
  Delivery& find(const store::Alert& row, bool in_memory);

  std::deque<Delivery> tried_;  ///< that which was tried last stands last
};

}  // namespace l4::alert
