// `l4 parse FILE...`: which template each line has, and the templates.
//
// Every line of the files, taken one behind the other and numbered on from 1, gives a row
// `line_number<TAB>template_id`; an empty line gives one too. Ids are final: rows are written after
// the last line was learned, with aliases followed. One thread; holds four bytes a line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <vector>

#include "common/base/ids.h"
#include "common/drain/template_miner.h"
#include "tools/l4/terminal/options.h"

namespace l4::commands {

struct ParseOptions {
  std::vector<std::filesystem::path> files;
  std::optional<std::filesystem::path> out;        ///< rows; standard output if not given
  std::optional<std::filesystem::path> templates;  ///< `template_id<TAB>count<TAB>text`
  std::string format = "text";                     ///< form of the rows; json: schema l4.parse/1
};

extern const char* const kParseFooter;
void add_parse(terminal::Options& to, ParseOptions& options);
/// Exit status: 0 parsed (unreadable files are named on `err`), 2 wrong use or output not writable,
/// 3 nothing could be read.
int run_parse(const ParseOptions& options, std::ostream& err);
int run_parse(const ParseOptions& options);

/// Learns every line of `in` and appends its local template to `ids`. A line is the message itself.
void parse_lines(std::istream& in, drain::TemplateMiner& miner, std::vector<LocalTemplateId>& ids);

/// Rows of parsed lines, ids final.
void write_rows(std::ostream& out, const drain::TemplateMiner& miner,
                const std::vector<LocalTemplateId>& ids);

/// The templates of parsed lines, ascending by id.
void write_templates(std::ostream& out, const drain::TemplateMiner& miner,
                     const std::vector<LocalTemplateId>& ids);

}  // namespace l4::commands
