#include "aggregator/scoring/notice_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/saved/archive.h"

namespace l4::scoring {
namespace {

/// The same for one notice in all reports of an attempt.
std::string id_of(const std::string& job, std::int32_t attempt, const diagnose::Notable& notable) {
  std::string id = fmt::format("{}.{}.{}", job, attempt, notable.kind);
  if (notable.node) id += "." + *notable.node;
  if (notable.rank) id += fmt::format(".{}", notable.rank->value());
  if (notable.phase) id += "." + *notable.phase;
  return id;
}

}  // namespace

alert::Alert NoticeBook::alert_of(alert::Kind kind, const std::string& id, const Notice& notice,
                                  TimeMs now) const {
  alert::Alert alert;
  alert.kind = kind;
  alert.at = now;
  alert.job = job_;
  alert.attempt = notice.attempt;
  alert.notice = id;
  alert.since = notice.since;
  alert.summary = notice.text;
  if (!notice.node.empty()) alert.nodes.push_back(notice.node);
  if (notice.rank >= 0) alert.ranks.emplace_back(static_cast<std::int32_t>(notice.rank));
  return alert;
}

std::vector<alert::Alert> NoticeBook::reported(const diagnose::Report& report, TimeMs now) {
  if (report.verdict.state == State::finished) return close("the job has ended", now);
  std::vector<alert::Alert> alerts;
  for (const diagnose::Notable& notable : report.notable) {
    const std::string id = id_of(job_, report.job.attempt, notable);
    const auto known = open_.find(id);
    if (known == open_.end() && open_.size() >= kOpenMax) continue;
    Notice& notice = known == open_.end() ? open_[id] : known->second;
    notice.text = notable.text;
    notice.seen = now;
    if (known != open_.end()) continue;
    notice.attempt = report.job.attempt;
    notice.kind = notable.kind;
    notice.node = notable.node.value_or("");
    notice.rank = notable.rank ? notable.rank->value() : -1;
    notice.since = now;
    alerts.push_back(alert_of(alert::Kind::noticed, id, notice, now));
  }
  for (auto at = open_.begin(); at != open_.end();) {
    if (now - at->second.seen < kGoneAfter) {
      ++at;
      continue;
    }
    alerts.push_back(alert_of(alert::Kind::notice_over, at->first, at->second, now));
    at = open_.erase(at);
  }
  return alerts;
}

std::vector<alert::Alert> NoticeBook::close(const std::string& why, TimeMs now) {
  std::vector<alert::Alert> alerts;
  for (const auto& [id, notice] : std::exchange(open_, {})) {
    alerts.push_back(alert_of(alert::Kind::notice_over, id, notice, now));
    alerts.back().summary = why;
  }
  return alerts;
}

const std::string& NoticeBook::newest() const {
  static const std::string kNone;
  const auto newest =
      std::ranges::max_element(open_, {}, [](const auto& one) { return one.second.since; });
  return newest == open_.end() ? kNone : newest->second.text;
}

template <class Archive, class Self>
void NoticeBook::persist(Archive& archive, Self& self) {
  archive.map(
      self.open_, 8, [&](auto& id) { archive(id); },
      [&](auto& notice) {
        archive(notice.attempt, notice.kind, notice.node, notice.text, notice.rank, notice.since,
                notice.seen);
      });
  archive.require(self.open_.size() <= kOpenMax);
}

void NoticeBook::save(ByteWriter& out) const {
  saved::Writer archive(out);
  persist(archive, *this);
}

void NoticeBook::load(ByteReader& in) {
  saved::Reader archive(in);
  persist(archive, *this);
}

}  // namespace l4::scoring
