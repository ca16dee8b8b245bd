// The notices of one running job: what its reports call notable, from the first report that says so
// until it is gone.
//
// Flow: LiveJob gives every report; the book makes an alert of each new notice and of its end,
// which only sinks get that ask for notices (alert/filter.h). A notice is the same as long as
// attempt, kind, node, rank and phase are; its text may change. It is gone when no report of
// kGoneAfter has it, or when the job is over. Bounds: kOpenMax notices; more are in the report
// alone. Belongs to one job, on its thread.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "aggregator/alert/alert.h"
#include "aggregator/diagnose/report.h"
#include "common/base/byte_stream.h"

namespace l4::scoring {

class NoticeBook {
 public:
  static constexpr std::size_t kOpenMax = 64;
  static constexpr Millis kGoneAfter{300'000};

  explicit NoticeBook(std::string job) : job_(std::move(job)) {}

  /// The alerts that the report gives rise to.
  std::vector<alert::Alert> reported(const diagnose::Report& report, TimeMs now);
  /// Ends all notices.
  std::vector<alert::Alert> close(const std::string& why, TimeMs now);

  std::size_t open() const { return open_.size(); }
  /// Text of the notice that came last; empty if none is open.
  const std::string& newest() const;

  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  struct Notice {
    std::int32_t attempt = 0;
    std::string kind, node, text;
    std::int64_t rank = -1;  ///< -1: of none
    TimeMs since{}, seen{};
  };
  template <class Archive, class Self>
  static void persist(Archive& archive, Self& self);
  alert::Alert alert_of(alert::Kind kind, const std::string& id, const Notice& notice,
                        TimeMs now) const;

  std::string job_;
  std::map<std::string, Notice> open_;  ///< by id
};

}  // namespace l4::scoring
