#include "tools/l4/commands/check_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <optional>
#include <string_view>

#include "agent/daemon/ready.h"
#include "agent/tail/source_survey.h"
#include "aggregator/program.h"
#include "aggregator/serve/json_text.h"
#include "aggregator/serve/phrases.h"
#include "aggregator/serve/utf8.h"
#include "aggregator/settings.h"
#include "common/config/config_table.h"
#include "offline/settings.h"
#include "tools/l4/ask/asking.h"
#include "tools/l4/ask/client_file.h"
#include "tools/l4/ask/live_json.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"

namespace l4::commands {
namespace {

enum class ConfigKind { agent, aggregator, diagnose, client };

struct Kind {
  ConfigKind kind;
  std::string_view word, program;
  std::array<std::string_view, 6> tables;  ///< tables that only this program has
};
constexpr std::array kKinds{
    Kind{
        ConfigKind::agent, "agent", "l4-agent", {"link", "logs", "who", "timing", "host", "state"}},
    Kind{ConfigKind::aggregator,
         "aggregator",
         "l4-aggregator",
         {"wire", "http", "jobs", "store", "alerts", "log"}},
    Kind{ConfigKind::diagnose, "diagnose", "l4 diagnose", {"drain", "decode", "archive"}},
    Kind{ConfigKind::client, "client", "l4", {"client"}},
};

template <class T>
std::optional<Error> error_of(const Result<T>& result) {
  return result ? std::nullopt : std::optional(result.error());
}

std::optional<Error> trouble_of(ConfigKind kind, const std::filesystem::path& file,
                                std::vector<tail::SurveyedSource>& sources) {
  switch (kind) {
    case ConfigKind::agent: {
      const auto ready = daemon::read_config(file);
      if (!ready) return ready.error();
      auto rows = tail::survey_sources(ready->settings.sources, ready->settings.excludes);
      if (!rows) return rows.error();
      sources = std::move(*rows);
      return std::nullopt;
    }
    case ConfigKind::aggregator: {
      const auto settings = aggregator::load_settings(file);
      return settings ? error_of(aggregator::check(*settings)) : error_of(settings);
    }
    case ConfigKind::diagnose:
      return error_of(offline::load_settings(file));
    case ConfigKind::client: {
      const auto client = ask::read_client_file(file);
      if (!client) return client.error();
      const auto usable = ask::check_files(*client);
      return usable ? std::nullopt : std::optional(usable.error().error);
    }
  }
  return std::nullopt;
}

/// The kind of config whose own tables the file has; empty if it has tables of no kind or of
/// several.
std::optional<ConfigKind> kind_of(const ConfigTable& root) {
  std::optional<ConfigKind> found;
  for (const Kind& kind : kKinds) {
    const bool has_one = std::ranges::any_of(
        kind.tables, [&](std::string_view table) { return !table.empty() && root.has(table); });
    if (!has_one) continue;
    if (found) return std::nullopt;
    found = kind.kind;
  }
  return found;
}

struct Checked {
  std::string_view program;  ///< whose config it is; empty: none
  std::optional<Error> trouble;
  std::vector<tail::SurveyedSource> sources = {};  ///< of an agent, as they are on this machine now
};

Checked check_file(const std::filesystem::path& file, const std::string& as) {
  const auto root = ConfigTable::load(file);
  if (!root) return {{}, root.error()};
  const auto by_tables = kind_of(*root);
  const auto kind = std::ranges::find_if(kKinds, [&](const Kind& each) {
    return as.empty() ? by_tables == each.kind : as == each.word;
  });
  if (kind == kKinds.end())
    return {{}, Error{file.string(), "its tables do not tell whose it is; say --as"}};
  Checked checked{kind->program, {}};
  checked.trouble = trouble_of(kind->kind, file, checked.sources);
  return checked;
}

void write(serve::JsonWriter& to, const std::filesystem::path& file, const Checked& checked) {
  to.open('{').member("file", file.string()).member("usable", !checked.trouble);
  to.member("program", checked.program.empty() ? std::nullopt : std::optional(checked.program));
  to.member("error", checked.trouble ? std::optional(checked.trouble->text()) : std::nullopt);
  to.key("sources").open('[');
  for (const tail::SurveyedSource& source : checked.sources) {
    to.open('{').member("source", source.pattern).member("logs", source.files);
    to.member("newest", source.newest.empty() ? std::nullopt : std::optional(source.newest));
    to.member("hint", source.hint.empty() ? std::nullopt : std::optional(source.hint)).close('}');
  }
  to.close(']').close('}');
}

/// A source that matches no log is no error: its job may be still to come.
std::string text_of(const tail::SurveyedSource& source) {
  const std::string text =
      fmt::format("  {}: {}", source.pattern, serve::counted(source.files, "log"));
  if (source.files == 0) return fmt::format("{}: {}", text, source.hint);
  return fmt::format("{}, the newest {}", text, source.newest);
}

}  // namespace

const char* const kCheckConfigFooter =
    R"(What a file names is looked at, too: keys, tokens, rule packs, faults, and the logs that the
sources of an agent match here and now. Nothing is started.

Examples:
  l4 check-config /etc/l4/agent.toml /etc/l4/aggregator.toml
  l4 check-config --as agent half-written.toml

Exit status:
  0   all can be used
  2   wrong use, or one cannot be used; it is said why, with file, line and key)";

void add_check_config(terminal::Options& to, CheckConfigOptions& options) {
  to.value("FILE", options.files, "", "configs of l4-agent, l4-aggregator or l4").required();
  to.value("--as", options.as, "agent|aggregator|diagnose|client",
           "whose they are (default: as their tables tell)")
      .one_of({"agent", "aggregator", "diagnose", "client"});
  to.format(options.format);
}

int run_check_config(const CheckConfigOptions& options) {
  constexpr auto kProgram = "l4 check-config";
  const bool json = options.format == "json";
  int exit = terminal::kDone;
  serve::JsonWriter all;
  all.open('{').member("schema", "l4.config_check/1").key("files").open('[');
  for (const std::filesystem::path& file : options.files) {
    const Checked checked = check_file(file, options.as);
    write(all, file, checked);
    if (checked.trouble)
      exit = terminal::fail(*checked.trouble, terminal::kWrongUse, kProgram);
    else if (!json)
      std::cout << serve::harmless(fmt::format("{}: {} can use it", file.string(), checked.program))
                << '\n';
    if (!json)
      for (const tail::SurveyedSource& source : checked.sources)
        std::cout << serve::harmless(text_of(source)) << '\n';
  }
  if (json) std::cout << ask::tidied_json(all.close(']').close('}').release()).value_or("");
  const int written = terminal::finish_output(kProgram);
  return exit == terminal::kDone ? written : exit;
}

}  // namespace l4::commands
