// The raw lines of a stretch of one file, and which of them a question asks for.
//
// Flow: search.cc reads stretches -> here: cut into lines and decoded, with learning off; each
// record is compared with the template and the speakers of the question. Some text before and
// behind the stretch is decoded too, so that folded records and context are complete; only records
// that begin within the stretch count. One thread; a window is as large as its text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/decode/decoder.h"
#include "agent/lines/blot.h"
#include "agent/lines/task.h"
#include "common/drain/row.h"

namespace l4::lines {

/// Text of a file; it begins at the beginning of a line.
struct Stretch {
  std::string_view text;
  std::uint64_t offset = 0;  ///< offset of the text in the file
  std::uint64_t lines = 0;   ///< lines before the text, if `counted`
  bool counted = false;
  bool at_end = false;             ///< the text ends: its last line may lack its end
  std::uint64_t from = 0, to = 0;  ///< records that begin here count
};

struct SeenLine {
  std::uint64_t offset = 0, number = 0;  ///< number: 0 if it is not known
  std::string_view raw;                  ///< the line without its end
  std::optional<TimeMs> time;
  std::optional<Rank> rank;
  std::string host;
  std::uint64_t record = 0;  ///< offset of its first record plus 1; 0: it has no record
  bool wanted = true;        ///< the question asks for its speaker
  bool hit = false;
  /// Messages of its records that the user's expressions match; several writers have several.
  std::vector<std::string> messages;
};

/// The conditions of a question on a record.
class Asked {
 public:
  Asked(const Task& task, const wire::LinesFile& file);

  bool everyone() const { return file_->everyone; }
  bool by_template() const { return !rows_.empty(); }
  bool is_wanted(const decode::Speaker& speaker) const;
  bool is_of_template(std::string_view message) const;
  const decode::Options& decode() const { return task_->decode; }

 private:
  const Task* task_;
  const wire::LinesFile* file_;
  std::vector<drain::Row> rows_;
};

/// The lines of the stretch, in order. `year`: for stamps without one.
std::vector<SeenLine> decode_lines(const Stretch& stretch, const Asked& asked, Blot& blot,
                                   std::optional<TimeMs> year);

/// The first record of a text that has a time: the time, and where the record begins.
struct FirstTime {
  TimeMs time;
  std::uint64_t offset = 0;
};
std::optional<FirstTime> first_time(std::string_view text, std::uint64_t offset,
                                    const decode::Options& options, std::optional<TimeMs> year);

}  // namespace l4::lines
