#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iostream>
#include <optional>

#include "aggregator/serve/page.h"
#include "aggregator/serve/utf8.h"
#include "common/base/nearest.h"
#include "tools/l4/ask/asking.h"
#include "tools/l4/ask/live_json.h"
#include "tools/l4/commands/faults/asked.h"
#include "tools/l4/commands/faults/command.h"
#include "tools/l4/commands/faults/json.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"

namespace l4::commands::faults {
namespace {

constexpr std::size_t kWholeText = 1'000;

std::string_view meaning(Scope scope) {
  switch (scope) {
    case Scope::rank:
      return "touches a rank";
    case Scope::node:
      return "touches a node";
    case Scope::several:
      return "touches several nodes";
    default:
      return "touches the whole job";
  }
}

std::string_view meaning(Level severity) {
  switch (severity) {
    case Level::fatal:
      return "fatal: the process, GPU or node cannot go on";
    case Level::error:
      return "error: an operation failed, the job may go on";
    case Level::warning:
      return "warning: worth knowing, the job goes on";
    default:
      return "info: harmless by itself";
  }
}

serve::TextStyle style() {
  constexpr std::size_t kReadable = 100;
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  return {.color = terminal && std::getenv("NO_COLOR") == nullptr,
          .width = std::min(terminal::width_of_output(), kReadable)};
}

std::string page_of(const l4::faults::Fault& fault, const std::string& where) {
  serve::Page page(style());
  const auto prose = [&](const char* label, std::string_view text) {
    page.label(label);
    page.prose("", text, kWholeText, 0);
  };
  const auto each = [&](const char* label, const std::vector<std::string>& texts) {
    page.label(label);
    for (const std::string& text : texts) page.prose("", text, kWholeText, 0);
    page.label("");
  };
  page.title_prose(fault.title, kWholeText);
  page.gap();
  prose("id", fault.id);
  prose("kind", fmt::format("{}/{}, {}", l4::faults::name(fault.category), fault.subcategory,
                            meaning(fault.scope)));
  prose("severity", meaning(fault.severity));
  if (fault.consequence) prose("role", "a consequence: it usually follows another fault");
  if (fault.general) prose("role", "says that something failed: a line that says what comes first");
  if (fault.timeout) prose("role", "says that something waited for long: a hang came before");
  if (fault.setup) prose("role", "happens while the processes of a job find each other");
  if (fault.accuses_peer) prose("role", "says that another process or host is gone or silent");
  if (!fault.stopped_by.empty())
    prose("role", "says that the job was stopped: " + fault.stopped_by);
  page.gap();
  prose("cause", fault.cause);
  prose("fix", fault.fix);
  prose("do", fault.action);
  page.gap();
  each("patterns", fault.patterns);
  each("unless", fault.unless);
  for (const l4::faults::Condition& condition : fault.conditions)
    prose("and", fmt::format("{} {}", l4::faults::name(condition.kind),
                             fmt::join(condition.values, " or ")));
  page.gap();
  each("matches", fault.matches);
  each("not", fault.rejects);
  page.gap();
  if (const auto& by = fault.confirmed)
    prose("confirmed",
          fmt::format("by {} at {}, from incident {}", by->by, to_rfc3339(by->at), by->incident));
  prose("in", where);
  return page.release();
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// Entries that may have been meant: the title or id holds the words, or the id is near.
std::vector<std::string> near_to(const std::string& given, const l4::faults::Library& library) {
  constexpr std::size_t kMost = 6;
  std::vector<std::string> ids, near;
  for (const l4::faults::Fault& fault : library.faults()) {
    ids.push_back(fault.id);
    const std::string words = lower(fault.id + ' ' + fault.title) + ' ';
    if (near.size() < kMost && words.find(lower(given)) != std::string::npos)
      near.push_back(fault.id);
  }
  for (std::string& id : nearest_words(given, ids, kMost))
    if (near.size() < kMost && std::ranges::find(near, id) == near.end())
      near.push_back(std::move(id));
  return near;
}

int show(const FaultsOptions& options, const l4::faults::Fault& fault, const std::string& where) {
  std::cout << (options.format == "json" ? ask::tidied_json(to_json({&fault})).value_or("")
                                         : page_of(fault, where));
  return terminal::finish_output("l4 faults show");
}

/// Asks a running aggregator for an id that the files do not have, since only the aggregator knows
/// confirmed faults. Returns the exit status; empty if the aggregator does not know the id either,
/// and then `note` explains that.
std::optional<int> show_confirmed(const FaultsOptions& options, std::string& note) {
  const auto asked = ask::find_aggregator(options);
  if (!asked) return terminal::fail(asked.error().error, asked.error().exit, "l4 faults show");
  const auto fault = ask_fault(*asked, options.id);
  if (fault) return show(options, *fault, "the library of " + asked->address);
  note = fault.error().exit == terminal::kWrongUse
             ? "; the aggregator at " + asked->address + " has none, either"
             : fmt::format(
                   "; confirmed ones are known to an aggregator alone, and could not be "
                   "looked up: {}",
                   fault.error().error.text());
  return std::nullopt;
}

}  // namespace

int show_fault(const FaultsOptions& options, const l4::faults::Library& library,
               const std::string& from) {
  if (const l4::faults::Fault* fault = library.find(options.id))
    return show(options, *fault,
                from.empty() ? (library.folder() / (fault->family + ".toml")).string()
                             : "the library of " + from);
  std::string note;
  if (from.empty() && options.faults.empty())
    if (const auto shown = show_confirmed(options, note)) return *shown;
  std::cerr << serve::harmless(
                   fmt::format("l4 faults show: there is no fault {}{}", options.id, note))
            << '\n';
  for (const std::string& id : near_to(options.id, library))
    std::cerr << fmt::format("  {}: {}\n", serve::harmless(id),
                             serve::harmless(library.find(id)->title));
  return terminal::kWrongUse;
}

}  // namespace l4::commands::faults
