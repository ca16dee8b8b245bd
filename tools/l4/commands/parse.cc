#include "tools/l4/commands/parse.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <istream>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "aggregator/serve/json_text.h"
#include "aggregator/serve/utf8.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"

namespace l4::commands {
namespace {

TemplateId final_id(const drain::LogTemplate& known) {
  return TemplateId(known.skeletons.empty() ? 0 : known.skeletons.front().value());
}

bool parse_file(const std::filesystem::path& file, drain::TemplateMiner& miner,
                std::vector<LocalTemplateId>& ids, std::ostream& err) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) {
    err << "l4 parse: cannot read " << serve::harmless(file.string()) << ": Is a directory\n";
    return false;
  }
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (in) parse_lines(in, miner, ids);
  if (!in.is_open() || in.bad()) {
    err << "l4 parse: cannot read " << serve::harmless(file.string()) << ": "
        << std::strerror(errno) << '\n';
    return false;
  }
  return true;
}

/// Writes through `write` to a file; false, with a message, if that fails.
template <class Write>
bool write_file(const std::filesystem::path& file, std::ostream& err, Write write) {
  errno = 0;
  std::ofstream out(file, std::ios::binary);
  if (out) write(out);
  out.close();
  if (out) return true;
  err << "l4 parse: cannot write " << serve::harmless(file.string()) << ": " << std::strerror(errno)
      << '\n';
  return false;
}

using Templates = std::map<TemplateId, const drain::LogTemplate*>;

Templates templates_of(const drain::TemplateMiner& miner, const std::vector<LocalTemplateId>& ids) {
  Templates known;
  for (const LocalTemplateId id : ids) {
    const drain::LogTemplate& log_template = miner.at(miner.canonical(id));
    known.try_emplace(final_id(log_template), &log_template);
  }
  return known;
}

}  // namespace

const char* const kParseFooter =
    R"(Lines of all files are numbered on from 1. A row is the line's number, a tab, and the
id of its template (16 hexadecimal digits); JSON has the templates, too. A line is the
message itself: times and prefixes are not taken off.

Exit status:
  0   parsed; files that cannot be read are named
  2   wrong use, or output that cannot be written
  3   nothing could be read)";

void add_parse(terminal::Options& to, ParseOptions& options) {
  to.value("FILE", options.files, "", "files of messages, one a line").required();
  to.value("--out", options.out, "FILE", "write the rows here and not to standard output");
  to.value("--templates", options.templates, "FILE", "write id, count and text of each template");
  to.format(options.format);
}

void parse_lines(std::istream& in, drain::TemplateMiner& miner, std::vector<LocalTemplateId>& ids) {
  std::string line;
  while (std::getline(in, line)) {
    std::string_view message = line;
    if (message.ends_with('\r')) message.remove_suffix(1);
    ids.push_back(miner.learn(message).id);
  }
}

void write_rows(std::ostream& out, const drain::TemplateMiner& miner,
                const std::vector<LocalTemplateId>& ids) {
  std::map<LocalTemplateId, std::string> names;
  std::size_t number = 0;
  for (const LocalTemplateId id : ids) {
    const auto [at, created] = names.try_emplace(id);
    if (created) at->second = to_string(final_id(miner.at(miner.canonical(id))));
    out << ++number << '\t' << at->second << '\n';
  }
}

void write_json(std::ostream& out, const drain::TemplateMiner& miner,
                const std::vector<LocalTemplateId>& ids) {
  const auto known = templates_of(miner, ids);
  out << "{\"schema\": \"l4.parse/1\",\n \"templates\": [";
  const char* between = "\n  ";
  for (const auto& [id, log_template] : known) {
    serve::JsonWriter row;
    row.open('{').member("template_id", to_string(id)).member("count", log_template->count);
    out << std::exchange(between, ",\n  ")
        << row.member("template", log_template->text).close('}').release();
  }
  out << "],\n \"lines\": [";
  between = "\n  ";
  std::size_t number = 0;
  for (const LocalTemplateId id : ids)
    out << std::exchange(between, ",\n  ") << "{\"line\": " << ++number << ", \"template_id\": \""
        << to_string(final_id(miner.at(miner.canonical(id)))) << "\"}";
  out << "]}\n";
}

void write_templates(std::ostream& out, const drain::TemplateMiner& miner,
                     const std::vector<LocalTemplateId>& ids) {
  for (const auto& [id, log_template] : templates_of(miner, ids))
    out << to_string(id) << '\t' << log_template->count << '\t' << log_template->text << '\n';
}

int run_parse(const ParseOptions& options, std::ostream& err) {
  if (options.files.empty()) {
    err << "l4 parse: no file given\n";
    return terminal::kWrongUse;
  }
  constexpr std::size_t kUnlimited = std::numeric_limits<std::uint32_t>::max();
  drain::TemplateMiner miner({.templates_max = kUnlimited, .memo_entries_max = kUnlimited});
  std::vector<LocalTemplateId> ids;
  bool read = false;
  for (const std::filesystem::path& file : options.files) {
    read = parse_file(file, miner, ids, err) || read;
  }
  if (!read) return terminal::kNothingRead;
  bool written = true;
  const auto write = [&](std::ostream& out) {
    options.format == "json" ? write_json(out, miner, ids) : write_rows(out, miner, ids);
  };
  if (options.out) {
    written = write_file(*options.out, err, write);
  } else {
    write(std::cout);
    if (const int written_out = terminal::finish_output("l4 parse"); written_out != terminal::kDone)
      return written_out;
  }
  if (options.templates) {
    written = write_file(*options.templates, err,
                         [&](std::ostream& out) { write_templates(out, miner, ids); }) &&
              written;
  }
  return written ? terminal::kDone : terminal::kWrongUse;
}

int run_parse(const ParseOptions& options) {
  return run_parse(options, std::cerr);
}

}  // namespace l4::commands
