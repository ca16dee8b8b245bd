#include "tools/fleet/watcher.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "common/base/thread.h"
#include "common/http/client.h"
#include "common/http/url.h"
#include "tools/l4/ask/live_json.h"

namespace l4::fleet {
namespace {

constexpr Millis kLookAgain{50};
constexpr auto kPrefix = "l4_aggregator_";

Result<std::string> body_of(const std::string& url) {
  http::ClientOptions options;
  options.timeout = Millis{15'000};
  auto answer = http::get(url, options);
  if (!answer) return std::unexpected(answer.error());
  if (answer->status != 200)
    return std::unexpected(Error{url, "answers " + std::to_string(answer->status)});
  return std::move(answer->body);
}

}  // namespace

std::map<std::string, double> read_figures(std::string_view text) {
  std::map<std::string, double> figures;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto blank = line.rfind(' ');
    if (line.starts_with('#') || blank == std::string_view::npos) continue;
    double value = 0;
    const std::string_view number = line.substr(blank + 1);
    if (std::from_chars(number.data(), number.data() + number.size(), value).ec == std::errc{})
      figures[std::string(line.substr(0, blank))] = value;
  }
  return figures;
}

Watcher::Watcher(std::string url, Millis every, std::function<Usage()> usage,
                 std::function<Millis()> age)
    : url_(std::move(url)),
      every_(every),
      usage_(std::move(usage)),
      age_(std::move(age)),
      thread_(start_thread("l4-fleet-watch", [this] { run(); })) {}

Watcher::~Watcher() {
  stopping_ = true;
}

void Watcher::run() {
  Millis next{0};
  while (!stopping_) {
    if (age_() >= next) {
      sample();
      next = age_() + every_;
    }
    std::this_thread::sleep_for(kLookAgain);
  }
}

void Watcher::sample() {
  Sample taken;
  taken.at = age_();
  taken.usage = usage_();
  const auto text = body_of(url_ + "/metrics");
  if (text) {
    taken.answered = true;
    taken.figures = read_figures(*text);
    const auto figure = [&](const std::string& name) {
      const auto at = taken.figures.find(kPrefix + name);
      return at == taken.figures.end() ? 0 : static_cast<std::uint64_t>(at->second);
    };
    taken.blind = figure("blind") != 0;
    taken.connected = figure("agents_connected");
    taken.lost = figure("agents_lost");
    taken.waiting = figure("tasks_waiting");
  }
  const MutexLock lock(mutex_);
  if (taken.answered) figures_ = std::exchange(taken.figures, {});
  samples_.push_back(std::move(taken));
}

std::vector<Sample> Watcher::samples() const {
  const MutexLock lock(mutex_);
  return samples_;
}

Sample Watcher::last() const {
  const MutexLock lock(mutex_);
  if (samples_.empty()) return {};
  Sample last = samples_.back();
  last.figures = figures_;
  return last;
}

Result<std::vector<Found>> ask_incidents(const std::string& url) {
  const auto text = body_of(url + "/api/v1/incidents?count=1000");
  if (!text) return std::unexpected(text.error());
  auto rows = ask::read_incidents(*text);
  if (!rows) return std::unexpected(rows.error());
  std::vector<Found> found;
  for (const ask::IncidentRow& row : rows->incidents) {
    const auto whole = body_of(url + "/api/v1/incidents/" + http::percent_encoded(row.id));
    if (!whole) return std::unexpected(whole.error());
    const auto with_report = ask::read_incidents(fmt::format(R"({{"incidents":[{}]}})", *whole));
    if (!with_report) return std::unexpected(with_report.error());
    const std::string node =
        with_report->incidents.empty() ? std::string() : with_report->incidents.front().first_node;
    found.push_back({row.id, row.job, row.state, node, static_cast<std::int32_t>(row.attempt),
                     row.opened, row.is_resolved()});
  }
  return found;
}

}  // namespace l4::fleet
