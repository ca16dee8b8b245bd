// What alerting keeps quiet about because a person said so: incidents that somebody has
// acknowledged, jobs and nodes in maintenance.
//
// Flow: requests -> QuietBook, durable in the database before it counts -> Alerter asks it about
// each alert, the lists of jobs, nodes and incidents about each row. Restored at the start; a
// database that cannot be read then leaves it empty, and alerts are sent. Any thread. Bounds: 256
// maintenances that are not over, 1,000 in all, 10,000 acknowledgements and held incidents each;
// the oldest leave first.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/alert/alert.h"
#include "aggregator/store/database.h"
#include "common/base/mutex.h"

namespace l4::alert {

/// Why something that was asked for is not done.
struct QuietRefusal {
  enum class Why : std::uint8_t { unknown, conflict, database };
  Why why = Why::unknown;
  std::string message;  ///< a sentence without its full stop
};
template <class T>
using QuietAnswer = std::expected<T, QuietRefusal>;

struct QuietCounts {
  std::uint64_t acknowledged = 0;  ///< incidents, resolved ones included
  std::uint64_t maintenance = 0;   ///< that are not over
};

class QuietBook {
 public:
  static constexpr std::size_t kActiveMax = 256, kMaintenanceMax = 1'000, kIncidentsMax = 10'000;

  /// The database outlives this. `warn` is called here only, if it cannot be read.
  QuietBook(store::Database& database, const std::function<void(const std::string&)>& warn);

  /// The same person may tell it again, with another note. Refused if another person has the
  /// incident. Whether there is such an incident, the caller knows.
  QuietAnswer<store::Acknowledgement> acknowledge(store::Acknowledgement told);
  /// Returns what was taken back. Any person may.
  QuietAnswer<store::Acknowledgement> take_back(const std::string& incident);
  std::optional<store::Acknowledgement> acknowledgement(const std::string& incident) const;

  /// Begins one; its id is assigned.
  QuietAnswer<store::Maintenance> begin(store::Maintenance told);
  QuietAnswer<store::Maintenance> end(std::int64_t id, const std::string& who, TimeMs now);
  /// Newest first; `over`: also those that are over.
  std::vector<store::Maintenance> maintenance(TimeMs now, bool over) const;
  /// The one that ends last of those which hold the alert back, or which the job or node is in.
  std::optional<store::Maintenance> holds(const Alert& alert, TimeMs now) const;
  std::optional<store::Maintenance> of_job(const std::string& job, TimeMs now) const;
  std::optional<store::Maintenance> of_node(const std::string& node, TimeMs now) const;

  /// Notes that the maintenance held back an alert of the incident.
  void note_held(const std::string& incident, std::int64_t maintenance, TimeMs now);
  /// The last maintenance that held back an alert of the incident.
  std::optional<store::Maintenance> held(const std::string& incident) const;
  /// How many incidents each maintenance has held back an alert of.
  std::map<std::int64_t, std::uint64_t> held_incidents() const;
  QuietCounts counts(TimeMs now) const;

 private:
  template <class Matches>
  std::optional<store::Maintenance> last_of(TimeMs now, Matches matches) const L4_REQUIRES(mutex_);
  void bound() L4_REQUIRES(mutex_);

  store::Database& database_;
  mutable Mutex mutex_;
  std::map<std::string, store::Acknowledgement> acknowledged_ L4_GUARDED_BY(mutex_);
  std::map<std::string, store::HeldIncident> held_ L4_GUARDED_BY(mutex_);
  std::map<std::int64_t, store::Maintenance> maintenance_ L4_GUARDED_BY(mutex_);
};

/// The name by which people call a maintenance: m12. The inverse is empty for other texts.
std::string maintenance_name(std::int64_t id);
std::optional<std::int64_t> maintenance_id(std::string_view name);

}  // namespace l4::alert
