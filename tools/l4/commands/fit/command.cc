#include "tools/l4/commands/fit/command.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "aggregator/diagnose/clues/scale.h"
#include "aggregator/fit/fit.h"
#include "aggregator/fit/table_file.h"
#include "aggregator/serve/json_text.h"
#include "aggregator/serve/utf8.h"
#include "tools/l4/ask/asking.h"
#include "tools/l4/ask/live_json.h"
#include "tools/l4/commands/fit/labels.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"

namespace l4::commands::fit {
namespace {

namespace clues = diagnose::clues;

constexpr auto kProgram = "l4 fit";
constexpr Millis kTimeout{60'000};
constexpr std::array kClaims{clues::Claim::state, clues::Claim::node, clues::Claim::event};
constexpr std::array<std::string_view, 3> kTitles{"state", "first node", "first event"};

constexpr auto kFooter =
    R"(A report says how sure it is of its state, first node and first event. What is true at one's
own site is said with 'l4 faults confirm INCIDENT --state S --node N' and 'l4 outcome JOB'; from 60
such claims on, 6 of them wrong, of 12 faults and jobs, this fits the confidences to them. Each
claim is held against a fit that did not see its fault or job, and weights are replaced only if
these confidences are better than the table's. docs/SCORING.md, "A site's own fit", says more.

Examples:
  l4 fit                                        would it be better, and by how much
  l4 fit --table /etc/l4/scoring.toml           write it; then [detect] scoring_table, and a restart
  l4 fit --labels labels.json --table t.toml    of labels that were kept (GET /api/v1/labels)
  l4 diagnose /logs/job-4711 --table t.toml     a report by it

Exit status:
  0   better than the table, for one claim at least; with --table it is written
  1   nothing is better, or there are too few labels: nothing is written
  2   wrong use, or a file that cannot be read or written
  3   the aggregator did not answer

Environment: as for 'l4 jobs')";

/// The whole file; an error has its name.
Result<std::string> content(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::unexpected(Error{file.string(), std::strerror(errno)});
  return std::string(std::istreambuf_iterator<char>(in), {});
}

/// The table to compare with, and its text.
struct Base {
  clues::GroundRows rows = clues::shipped_scale().grounds;
  std::string text;
};

Result<Base> read_base(const std::filesystem::path& file) {
  Base base;
  std::error_code ignored;
  if (file.empty() || !std::filesystem::exists(file, ignored)) return base;
  const auto table = clues::read_table(file);
  if (!table)
    return std::unexpected(Error{"--table: " + table.error().where, table.error().reason});
  auto text = content(file);
  if (!text) return std::unexpected(text.error());
  return Base{table->scale.grounds, std::move(*text)};
}

ask::Answer<Labels> collect(const FitOptions& options) {
  Labels labels;
  for (const std::filesystem::path& file : options.labels) {
    const auto text = content(file);
    if (!text) return ask::failed(text.error().where, text.error().reason, terminal::kWrongUse);
    if (const auto done = read_labels(*text, labels); !done)
      return ask::failed(
          file.string() + (done.error().where.empty() ? "" : ": " + done.error().where),
          done.error().reason, terminal::kWrongUse);
  }
  if (!options.labels.empty()) return labels;
  const auto asked = ask::find_aggregator(options);
  if (!asked) return std::unexpected(asked.error());
  const auto body = ask::fetch_list(*asked, "/api/v1/labels", "labels", kTimeout);
  if (!body) return std::unexpected(body.error());
  if (const auto done = read_labels(*body, labels); !done)
    return ask::misread(*asked, done.error());
  return labels;
}

using Results = std::vector<l4::fit::FitResult>;

std::string text_of(const Results& results, const Labels& labels) {
  std::string text =
      fmt::format("labels of {} incidents and {} jobs\n", labels.incidents, labels.jobs);
  text += fmt::format("{:<12}{:>7}{:>7}{:>9}{:>8}{:>10}{:>8}{:>10}{:>10}\n", "", "claims", "right",
                      "sources", "error", "held out", "bound", "log loss", "held out");
  for (const l4::fit::FitResult& one : results) {
    text += fmt::format("{:<12}{:>7}{:>7}{:>9}{:>8.3f}", kTitles[static_cast<std::size_t>(one.of)],
                        one.claims, one.right, one.sources, one.table.error);
    const bool judged = one.held_out.loss > 0;
    text += judged ? fmt::format("{:>10.3f}{:>8.3f}{:>10.3f}{:>10.3f}\n", one.held_out.error,
                                 one.bound, one.table.loss, one.held_out.loss)
                   : fmt::format("{:>10}{:>8}{:>10.3f}{:>10}\n", "-", "-", one.table.loss, "-");
    text += fmt::format("{:<12}{}\n", "",
                        one.kept.empty() ? fmt::format("better: {} weights", one.grounds.size())
                                         : "kept as it is: " + one.kept);
  }
  return text;
}

void write(serve::JsonWriter& to, const l4::fit::Quality& quality) {
  to.open('{').member("error", quality.error).member("log_loss", quality.loss).close('}');
}

std::string json_of(const Results& results, const Labels& labels, bool written) {
  serve::JsonWriter text;
  text.open('{').member("schema", "l4.fit/1").member("incidents", labels.incidents);
  text.member("jobs", labels.jobs).member("written", written).key("claims").open('[');
  for (const l4::fit::FitResult& one : results) {
    text.open('{').member("of", clues::name(one.of)).member("claims", one.claims);
    text.member("right", one.right).member("sources", one.sources).key("table");
    write(text, one.table);
    write(text.key("held_out"), one.held_out);
    text.member("bound", one.bound).member("kept", one.kept).key("weights").open('[');
    for (const l4::fit::FittedGround& ground : one.grounds)
      text.open('{')
          .member("ground", clues::name(ground.kind))
          .member("weight", ground.weight)
          .member("claims", ground.claims)
          .member("right", ground.right)
          .close('}');
    text.close(']').close('}');
  }
  return text.close(']').close('}').release() + '\n';
}

/// Writes the table with what is better; it is read back first, so no broken one takes its place.
int write_table(const FitOptions& options, const Base& base, const Results& results,
                const Labels& labels) {
  std::string text = base.text;
  const std::string made =
      fmt::format("labels up to {}", labels.newest ? to_rfc3339(*labels.newest) : "none");
  for (const l4::fit::FitResult& one : results)
    if (one.kept.empty()) text = l4::fit::with_fitted(std::move(text), one, base.rows, made);
  if (const auto read = clues::read_table_text(text, options.table.string()); !read)
    return terminal::fail(
        {"--table: " + read.error().where,
         read.error().reason +
             "; rows of confidences must have the form [confidence.CLAIM.GROUND]"},
        terminal::kWrongUse, kProgram);
  return terminal::write_whole(text, options.table, kProgram);
}

void add_fit(terminal::Options& to, FitOptions& options) {
  to.value("--table", options.table, "FILE",
           "the table in use, which is changed where the fit is\n"
           "better; made if it is not there (default: compared\n"
           "with the shipped one, nothing is written)");
  to.value("--labels", options.labels, "FILE",
           "labels that were kept, instead of the aggregator's;\n"
           "may be repeated")
      .one_each_time();
  to.value("--seed", options.seed, "N", "deals faults and jobs into parts otherwise (default: 1)")
      .between(0, 1'000'000);
  to.flag("--dry-run", options.dry_run, "say what would be, and write nothing");
  to.format(options.format);
  ask::add_asking(to, options);
}

Result<void> check(const FitOptions& options) {
  if (auto table = terminal::check_writable("--table", options.table); !table) return table;
  return ask::check_asking(options);
}

}  // namespace

terminal::Command fit_command() {
  return terminal::command("fit", "fit how sure reports are to this site's incidents", kFooter,
                           add_fit, run_fit, check);
}

int run_fit(const FitOptions& options) {
  const auto base = read_base(options.table);
  if (!base) return terminal::fail(base.error(), terminal::kWrongUse, kProgram);
  const auto labels = collect(options);
  if (!labels) return terminal::fail(labels.error().error, labels.error().exit, kProgram);
  l4::fit::FitOptions how;
  how.seed = options.seed;
  Results results;
  bool better = false;
  for (const clues::Claim claim : kClaims) {
    results.push_back(l4::fit::fit_claims(claim, labels->claims, base->rows, how));
    better = better || results.back().kept.empty();
  }
  const bool writes = better && !options.dry_run && !options.table.empty();
  if (writes)
    if (const int failed = write_table(options, *base, results, *labels); failed != terminal::kDone)
      return failed;
  std::string text =
      options.format == "json" ? json_of(results, *labels, writes) : text_of(results, *labels);
  if (options.format != "json" && writes)
    text +=
        fmt::format("wrote {}; l4-aggregator reads it at its start, as [detect] scoring_table\n",
                    serve::harmless(options.table.string()));
  const int shown = terminal::write_text(text, {}, kProgram);
  if (shown != terminal::kDone) return shown;
  return better ? terminal::kDone : terminal::kFindings;
}

}  // namespace l4::commands::fit
