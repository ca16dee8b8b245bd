// `l4 setup agent`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <sstream>
#include <system_error>

#include "agent/daemon/ready.h"
#include "agent/segment/rule_pack.h"
#include "agent/tail/source_survey.h"
#include "agent/tail/sources.h"
#include "aggregator/serve/phrases.h"
#include "common/config/config_dir.h"
#include "common/wire/port.h"
#include "common/wire/zmq/context.h"
#include "common/wire/zmq/endpoint.h"
#include "common/wire/zmq/key_file.h"
#include "common/wire/zmq/zmq_client.h"
#include "tools/l4/commands/setup/command.h"
#include "tools/l4/commands/setup/machine.h"
#include "tools/l4/commands/setup/outcome.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"
#include "tools/l4/terminal/questions.h"

namespace l4::commands::setup {
namespace {

namespace fs = std::filesystem;
using terminal::Mark;
using terminal::Remark;

struct AgentAnswers {
  std::string aggregator;
  fs::path key, state;
  std::vector<std::string> sources;
};

Result<void> check_aggregator(const std::string& text) {
  if (wire::is_connect_endpoint(text)) return {};
  return std::unexpected(Error{text, "is not tcp://HOST:PORT, such as tcp://head-node:7430"});
}

Result<void> check_key_file(const std::string& text) {
  const fs::path file = whole(text);
  std::error_code ignored;
  if (!fs::exists(file, ignored))
    return std::unexpected(Error{
        file.string(),
        "is not there; 'l4 keys init' on the aggregator's host makes it and says how to bring "
        "it here"});
  const auto key = wire::load_node_key(file);
  return key ? Result<void>() : std::unexpected(key.error());
}

std::vector<std::string> words_of_line(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

Result<void> check_sources(const std::vector<std::string>& sources) {
  const auto compiled = tail::Sources::compile(sources, {});
  return compiled ? Result<void>() : std::unexpected(compiled.error());
}

/// The key of this node where it was made, on a host that is the aggregator's, too.
std::string default_key() {
  std::error_code ignored;
  const fs::path made = "/etc/l4/keys/nodes/" + host_name() + ".key";
  const fs::path usual = "/etc/l4/agent.key";
  return !fs::exists(usual, ignored) && fs::exists(made, ignored) ? made.string() : usual.string();
}

/// On the aggregator's host that is known.
std::string default_aggregator() {
  std::error_code ignored;
  return fs::exists("/etc/l4/keys/aggregator.key", ignored) ? "tcp://127.0.0.1:7430" : "";
}

Result<AgentAnswers> answers_of(const AgentOptions& options) {
  if (const auto all = check_answers({{"--aggregator", !options.aggregator.empty()},
                                      {"--key", !options.key.empty()},
                                      {"--sources", !options.sources.empty()}});
      !all)
    return std::unexpected(all.error());
  const auto aggregator =
      given_or_asked(options.aggregator, "address of the aggregator, tcp://HOST:7430",
                     default_aggregator(), check_aggregator);
  if (!aggregator) return std::unexpected(aggregator.error());
  const auto key =
      given_or_asked(options.key.string(), "this node's key", default_key(), check_key_file);
  if (!key) return std::unexpected(key.error());
  std::vector<std::string> sources = options.sources;
  if (sources.empty()) {
    const auto line = terminal::ask(
        "folders, files or patterns of logs, with blanks between them", "/var/log/training",
        [](const std::string& text) { return check_sources(words_of_line(text)); });
    if (!line) return std::unexpected(line.error());
    sources = words_of_line(*line);
  } else if (const auto fine = check_sources(sources); !fine) {
    return std::unexpected(Error{"--sources: " + fine.error().where, fine.error().reason});
  }
  return AgentAnswers{*aggregator, whole(*key), whole(options.state), std::move(sources)};
}

std::string settings_of(const AgentAnswers& answers, const fs::path& file) {
  return fmt::format(
      R"(# Settings of l4-agent, written by 'l4 setup agent'. What is not said here has its
# default: the agent.toml that was installed shows all. Check a change with
# l4 check-config {}

[link]
aggregator = {}
key = {}

[logs]
# Folders, files, or patterns: * ? and [] within a name, ** for any folders.
sources = {}

[state]
folder = {}
)",
      file.string(), toml_text(answers.aggregator), toml_text(answers.key.string()),
      toml_list(answers.sources), toml_text(answers.state.string()));
}

Remark check_key(const AgentAnswers& answers, const Unit& unit, const std::string& user) {
  const auto key = wire::load_node_key(answers.key);
  const std::string owner = !key ? "" : key->name == wire::kFleetKeyName ? "a fleet" : key->name;
  if (auto hidden = unit.hidden(answers.key); !hidden.empty())
    return {Mark::look, "key", std::move(hidden), "move the key to /etc/l4/agent.key"};
  if (!unit.reads_all) {
    const AsUser as(user);
    if (!is_readable(answers.key))
      return {Mark::look, "key",
              fmt::format("{} cannot be read by {}", answers.key.string(), as.name()),
              fmt::format("chown {}: {}", as.name(), answers.key.string())};
  }
  return {Mark::fine, "key", fmt::format("{} is the key of {}", answers.key.string(), owner), ""};
}

/// What becomes of a connection with this key.
Remark check_link(const AgentAnswers& answers) {
  constexpr Millis kMost{5'000};
  Remark remark{Mark::look, "link", answers.aggregator + ": ", ""};
  if (const auto found = addresses_of(host_port_of(answers.aggregator)->host); !found) {
    remark.text = found.error().text();
    remark.next = "name the aggregator's host as it is known here, or by its IP address";
    return remark;
  }
  const auto key = wire::load_node_key(answers.key);
  auto port = !key ? std::unexpected(key.error())
                   : wire::make_zmq_client(std::make_shared<wire::ZmqContext>(),
                                           {answers.aggregator, *key, answers.key.string()});
  if (!port) {
    remark.text += port.error().text();
    return remark;
  }
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + kMost;
  (*port)->connect();
  while (Clock::now() < end) {
    (*port)->wait(Millis{100});
    const auto news = (*port)->news();
    if (!news) continue;
    if (news->kind == wire::LinkNews::Kind::connected)
      return {Mark::fine, "link", answers.aggregator + " accepts this key", ""};
    const bool refused = news->kind == wire::LinkNews::Kind::refused;
    remark.text = refused ? remark.text + news->reason : news->reason;  // a loss names the place
    remark.next =
        refused ? "bring the key that 'l4 keys' made for this node on the aggregator's host"
                : "start the aggregator, or see whether a firewall or its [wire] listen keeps "
                  "this node out";
    return remark;
  }
  remark.text += fmt::format("no answer within {}", to_human(kMost));
  remark.next = "is this the aggregator's address, and does a firewall let this node in?";
  return remark;
}

std::string age_of(TimeMs written) {
  const auto now = std::chrono::floor<Millis>(std::chrono::system_clock::now());
  return serve::brief(std::max(now - written, Millis{0})) + " ago";
}

Remark remark_on(const tail::SurveyedSource& row, const Unit& unit, const std::string& user) {
  if (auto hidden = unit.hidden(row.pattern); !hidden.empty())
    return {Mark::look, "source", std::move(hidden),
            unit.private_tmp && !row.pattern.starts_with("/home")
                ? "install its drop-in logs-in-tmp.conf (share/l4/l4-agent.service.d)"
                : "write the logs elsewhere, or give the unit a drop-in"};
  if (row.closed > 0)
    return {Mark::look, "source",
            fmt::format("{}: {} cannot be read by {}{}", row.pattern, row.first_closed, user,
                        row.closed > 1 ? fmt::format(", nor {} more", row.closed - 1) : ""),
            unit.is_installed()
                ? "give the unit a group that may (SupplementaryGroups=), or the "
                  "CAP_DAC_READ_SEARCH with which it was installed"
                : "start it by its unit, which may read every log, or as a user who may"};
  if (row.files == 0)
    return {Mark::look, "source", fmt::format("{} matches no log: {}", row.pattern, row.hint),
            "correct the pattern, or leave it if the logs come later"};
  return {Mark::fine, "source",
          fmt::format("{}: {}{}, the newest was written {}", row.pattern,
                      serve::counted(row.files, "log"), row.cut ? " and more" : "",
                      age_of(row.written)),
          ""};
}

void check_logs(const AgentAnswers& answers, const Unit& unit, const std::string& user,
                std::vector<Remark>& all) {
  const AsUser as(unit.reads_all ? "" : user);
  const auto rows = tail::survey_sources(answers.sources, {});
  if (!rows) return;  // they were compiled before
  for (const tail::SurveyedSource& row : *rows) all.push_back(remark_on(row, unit, as.name()));
  const auto is_plain = [](const std::string& source) {
    return source.find_first_of("*?[") == std::string::npos;
  };
  constexpr std::size_t kMany = 4;
  if (rows->size() >= kMany && std::ranges::all_of(answers.sources, is_plain))
    all.push_back({Mark::note, "sources",
                   fmt::format("{} names and no pattern; if the shell made them of one, put it in "
                               "quotes: new logs would be missed",
                               rows->size()),
                   ""});
}

Remark check_packs() {
  const fs::path folder = find_config_dir() / "frameworks";
  const auto files = list_config_files(folder);
  const auto packs = segment::RulePackSet::load(folder);
  if (!packs || !files)
    return {Mark::look, "rules", packs ? files.error().text() : packs.error().text(),
            "install the programs again"};
  return {Mark::fine, "rules",
          serve::counted(files->size(), "rule pack") + " in " + folder.string(), ""};
}

void look_around(const AgentAnswers& answers, const fs::path& file, Outcome& outcome) {
  const Unit unit = find_unit("l4-agent", unit_folders());
  const std::string user = unit.is_installed() ? unit.user : "l4-agent";
  std::vector<Remark>& all = outcome.remarks;
  all.push_back(check_key(answers, unit, user));
  check_logs(answers, unit, user, all);
  {
    const AsUser as(user);
    all.push_back(check_state(unit, answers.state, as.name()));
  }
  all.push_back(check_packs());
  all.push_back(check_link(answers));  // last: it starts threads
  outcome.next.push_back(start_command(unit, file));
}

Result<void> read_settings_of_agent(const fs::path& file) {
  const auto ready = daemon::read_config(file);
  return ready ? Result<void>() : std::unexpected(ready.error());
}

}  // namespace

int run_setup_agent(const AgentOptions& options) {
  return run_steps<AgentOptions, AgentAnswers>(
      options, "l4 setup agent", {answers_of, settings_of, look_around, read_settings_of_agent});
}

}  // namespace l4::commands::setup
