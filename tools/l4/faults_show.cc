#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iostream>

#include "aggregator/serve/page.h"
#include "tools/l4/diagnose_command.h"
#include "tools/l4/faults_command.h"
#include "tools/l4/faults_json.h"
#include "common/base/nearest.h"
#include "tools/l4/terminal.h"

namespace l4::cli {
namespace {

constexpr std::size_t kUnlimited = 1'000;

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
          .width = std::min(width_of_output(), kReadable)};
}

std::string page_of(const faults::Fault& fault, const std::filesystem::path& folder) {
  serve::Page page(style());
  const auto prose = [&](const char* label, std::string_view text) {
    page.label(label);
    page.prose("", text, kUnlimited, 0);
  };
  const auto each = [&](const char* label, const std::vector<std::string>& texts) {
    page.label(label);
    for (const std::string& text : texts) page.prose("", text, kUnlimited, 0);
    page.label("");
  };
  page.title_prose(fault.title, kUnlimited);
  page.gap();
  prose("id", fault.id);
  prose("kind", fmt::format("{}/{}, {}", faults::name(fault.category), fault.subcategory,
                            meaning(fault.scope)));
  prose("severity", meaning(fault.severity));
  if (fault.consequence) prose("role", "a consequence: it usually follows another fault");
  if (fault.timeout) prose("role", "says that something waited for long: a hang came before");
  if (fault.setup) prose("role", "happens while the processes of a job find each other");
  if (fault.accuses_peer) prose("role", "says that another process or host is gone or silent");
  page.gap();
  prose("cause", fault.cause);
  prose("fix", fault.fix);
  prose("do", fault.action);
  page.gap();
  each("patterns", fault.patterns);
  each("unless", fault.unless);
  for (const faults::Condition& condition : fault.conditions)
    prose("and",
          fmt::format("{} {}", faults::name(condition.kind), fmt::join(condition.values, " or ")));
  page.gap();
  each("matches", fault.matches);
  each("not", fault.rejects);
  page.gap();
  prose("in", (folder / (fault.family + ".toml")).string());
  return page.take();
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// Entries that may have been meant: whose title or id holds the words, or whose id is near.
std::vector<std::string> near_to(const std::string& given, const faults::Library& library) {
  constexpr std::size_t kMost = 6;
  std::vector<std::string> ids, near;
  for (const faults::Fault& fault : library.faults()) {
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

}  // namespace

int show_fault(const FaultsOptions& options, const faults::Library& library) {
  const faults::Fault* fault = library.find(options.id);
  if (fault == nullptr) {
    std::cerr << fmt::format("l4 faults show: there is no fault {}\n", options.id);
    for (const std::string& id : near_to(options.id, library))
      std::cerr << fmt::format("  {}: {}\n", id, library.find(id)->title);
    return kWrongUse;
  }
  std::cout << (options.format == "json" ? to_json({fault}) : page_of(*fault, library.folder()));
  return finish_output("l4 faults show");
}

}  // namespace l4::cli
