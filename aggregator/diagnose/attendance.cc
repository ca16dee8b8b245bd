#include "aggregator/diagnose/attendance.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>

#include "aggregator/diagnose/certainty.h"
#include "aggregator/diagnose/clues/scale.h"
#include "aggregator/diagnose/clues/sentence.h"
#include "aggregator/job/share.h"
#include "aggregator/job/view.h"

namespace l4::diagnose {
namespace {

constexpr std::string_view kRendezvousFault = "rendezvous_timeout";

struct Numbered {
  std::string_view prefix;
  std::size_t width = 0;  ///< digits, as zero-padded; 0: not padded
  std::uint64_t number = 0;
};

bool split(std::string_view name, Numbered& out) {
  std::size_t digits = 0;
  while (digits < name.size() && name[name.size() - 1 - digits] >= '0' &&
         name[name.size() - 1 - digits] <= '9')
    ++digits;
  if (digits == 0 || digits > 9) return false;
  const std::string_view number = name.substr(name.size() - digits);
  out.prefix = name.substr(0, name.size() - digits);
  out.width = number.front() == '0' ? digits : 0;
  return std::from_chars(number.data(), number.data() + digits, out.number).ec == std::errc{};
}

}  // namespace

std::vector<std::string> missing_names(const std::vector<std::string>& names) {
  std::set<std::uint64_t> numbers;
  std::string_view prefix;
  std::size_t width = 0;
  for (const std::string& name : names) {
    Numbered one;
    if (!split(name, one) || (!numbers.empty() && one.prefix != prefix)) return {};
    prefix = one.prefix;
    width = std::max(width, one.width);
    numbers.insert(one.number);
  }
  if (numbers.size() < 2) return {};
  const std::uint64_t range = *numbers.rbegin() - *numbers.begin() + 1;
  const std::uint64_t gaps = range - numbers.size();
  if (gaps == 0 || !job::is_few(gaps, range)) return {};
  std::vector<std::string> missing;
  for (std::uint64_t number = *numbers.begin(); number < *numbers.rbegin(); ++number)
    if (!numbers.contains(number))
      missing.push_back(fmt::format("{}{:0{}}", prefix, number, width));
  return missing;
}

bool waited_for_nodes(const Report& report) {
  return report.verdict.state == State::launch_failed && !report.faults.empty() &&
         report.faults.front().id == kRendezvousFault;
}

void report_attendance(const job::JobView& view, const clues::Scale& scale, Report& report) {
  std::vector<std::string> joined;
  joined.reserve(view.nodes.size());
  for (const job::NodeView& node : view.nodes) joined.push_back(node.name);
  const auto missing = missing_names(joined);
  report.verdict.summary += fmt::format(" {} nodes joined and waited for more.", joined.size());
  const clues::Grounds grounds{{clues::GroundKind::node_absent}};
  const double absent = missing.empty() ? 0.0 : clues::confidence(grounds, scale.grounds);
  for (SuspectNode& node : report.nodes) node.confidence *= 1 - absent;
  for (const std::string& name : missing) {
    SuspectNode suspect;
    suspect.node = name;
    suspect.score = scale.row(clues::ClueKind::absent).weight +
                    (report.nodes.empty() ? 0.0 : report.nodes.front().score);
    suspect.confidence = absent / static_cast<double>(missing.size());
    Clue clue{clues::ClueKind::absent, name, {}, suspect.score, {}, {}};
    clue.text = clues::sentence(clue.kind, {});
    suspect.why.push_back(clue.text);
    report.clues.insert(report.clues.begin(), std::move(clue));
    report.nodes.insert(report.nodes.begin(), std::move(suspect));
  }
  if (report.clues.size() > kCluesMax) report.clues.resize(kCluesMax);
  if (missing.empty()) return;
  std::erase_if(report.certainty,
                [](const Certainty& one) { return one.of == clues::Claim::node; });
  report.certainty.push_back(certainty_of_node(grounds, report));
}

}  // namespace l4::diagnose
