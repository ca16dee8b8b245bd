#include "tools/l4/commands/demo/crew.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

namespace l4::commands::demo {
namespace {

namespace fs = std::filesystem;

constexpr auto kAggregator = "l4-aggregator", kAgent = "l4-agent";
constexpr std::chrono::seconds kListenMost{30};
constexpr std::chrono::milliseconds kListenLook{20};

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

Error missing(const char* program) {
  return {program,
          "is neither beside this l4 nor in PATH; build or install all three programs "
          "(tools/quickstart does)"};
}

}  // namespace

Result<Programs> find_programs() {
  Programs found{process::find_program(kAggregator), process::find_program(kAgent)};
  if (found.aggregator.empty()) return std::unexpected(missing(kAggregator));
  if (found.agent.empty()) return std::unexpected(missing(kAgent));
  return found;
}

std::string end_of_log(const fs::path& log) {
  constexpr std::size_t kLines = 5;
  std::string text = text_of(log);
  while (text.ends_with('\n')) text.pop_back();
  std::size_t begin = text.size();
  for (std::size_t lines = 0; lines < kLines && begin != 0 && begin != std::string::npos; ++lines)
    begin = text.rfind('\n', begin - 1);
  return begin == std::string::npos || begin == 0 ? text : text.substr(begin + 1);
}

Result<void> Crew::start(const std::string& name, const fs::path& program, const fs::path& settings,
                         const fs::path& log) {
  auto child = process::Child::start({program, {"--config", settings.string()}, log});
  if (!child) return std::unexpected(child.error());
  members_.push_back({name, log, std::move(*child)});
  return {};
}

Result<Addresses> Crew::start_aggregator(const std::function<bool()>& go_on) {
  const fs::path log = site_.aggregator_log();
  if (auto started = start(kAggregator, programs_.aggregator, site_.aggregator_settings(), log);
      !started)
    return std::unexpected(started.error());
  const auto until = std::chrono::steady_clock::now() + kListenMost;
  while (std::chrono::steady_clock::now() < until) {
    if (auto addresses = addresses_in(text_of(log))) return std::move(*addresses);
    if (auto alive = check(); !alive) return std::unexpected(alive.error());
    if (!go_on()) return std::unexpected(Error{});
    std::this_thread::sleep_for(kListenLook);
  }
  return std::unexpected(
      Error{kAggregator, fmt::format("does not listen after {} s. Its log ends with:\n{}",
                                     kListenMost.count(), end_of_log(log))});
}

Result<void> Crew::start_agents() {
  for (std::size_t i = 0; i < site_.watched().size(); ++i)
    if (auto started = start(fmt::format("{} of {}", kAgent, site_.watched()[i].node),
                             programs_.agent, site_.agent_settings(i), site_.agent_log(i));
        !started)
      return started;
  return {};
}

Result<void> Crew::check() {
  for (Member& member : members_)
    if (const auto ending = member.child.ending())
      return std::unexpected(Error{member.name, fmt::format("has ended {}. Its log ends with:\n{}",
                                                            *ending, end_of_log(member.log))});
  return {};
}

}  // namespace l4::commands::demo
