#include "aggregator/serve/phrases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace l4::serve {

std::string_view certainty(double probability) {
  if (probability >= 0.95) return "almost certain";
  if (probability >= 0.8) return "very likely";
  if (probability >= 0.6) return "likely";
  if (probability >= 0.3) return "possible";
  return "unlikely";
}

std::string percent(double probability) {
  if (!(probability >= 0.01)) return "<1 %";
  if (probability > 0.99) return ">99 %";
  return fmt::format("{:.0f} %", probability * 100);
}

std::string counted(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(number), noun, number == 1 ? "" : "s");
}

std::string sized(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 6> kUnits{"KB", "MB", "GB", "TB", "PB", "EB"};
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  return fmt::format("{:.{}f} {}", value, value < 9.95 ? 1 : 0, kUnits[unit]);
}

std::string ranks_text(std::vector<Rank> ranks, std::size_t ranges_max) {
  if (ranks.empty()) return "";
  std::ranges::sort(ranks);
  const auto repeated = std::ranges::unique(ranks);
  ranks.erase(repeated.begin(), repeated.end());
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  std::size_t ranges = 0;
  for (std::size_t i = 0; i < ranks.size(); ++ranges) {
    if (ranges == ranges_max) return text + fmt::format(" and {} more", grouped(ranks.size() - i));
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1].value() == ranks[last].value() + 1) ++last;
    if (ranges > 0) text += ", ";
    text += std::to_string(ranks[i].value());
    if (last > i) text += (last == i + 1 ? ", " : "-") + std::to_string(ranks[last].value());
    i = last + 1;
  }
  return text;
}

std::string brief(Millis span) {
  const double seconds = static_cast<double>(span.count()) / 1000;
  if (seconds < 99.5) return fmt::format("{:.0f} s", seconds);
  if (seconds < 99.5 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.0f} h", seconds / 3600);
}

std::string spoken(std::string_view word) {
  std::string text(word);
  std::ranges::replace(text, '_', ' ');
  return text;
}

std::string_view headline(State state) {
  constexpr std::array<std::string_view, 8> kTitles{
      "UNKNOWN", "HEALTHY", "FINISHED", "CRASHED", "HUNG", "SLOW", "NODE LOST", "LAUNCH FAILED"};
  return kTitles[static_cast<std::size_t>(state)];
}

std::string_view spoken(Scope scope) {
  constexpr std::array<std::string_view, 6> kScopes{
      "", "one rank", "one node", "several nodes", "all nodes", ""};
  return kScopes[static_cast<std::size_t>(scope)];
}

bool is_sayable(TimeMs time) {
  using namespace std::chrono;
  return time >= sys_days{year{1} / 1 / 1} && time < sys_days{year{10000} / 1 / 1};
}

std::optional<Millis> between(std::optional<TimeMs> begin, std::optional<TimeMs> end) {
  if (!begin || !end || !is_sayable(*begin) || !is_sayable(*end) || *end < *begin) return {};
  return *end - *begin;
}

std::string time_text(TimeMs time, std::optional<TimeMs> reference) {
  if (!is_sayable(time)) return "?";
  const std::string whole = to_rfc3339(time);
  const bool same_day = reference && std::chrono::floor<std::chrono::days>(time) ==
                                         std::chrono::floor<std::chrono::days>(*reference);
  const std::size_t day = whole.find('T');
  return same_day && day != std::string::npos ? whole.substr(day + 1, whole.size() - day - 2)
                                              : whole;
}

}  // namespace l4::serve
