// A stretch of one file, as raw lines, with what each of them is to a question.
//
// Flow: search.h reads stretches; here they are cut into lines and decoded, with learning off, and
// each record is held against the template that is asked for and against the speakers. What stands
// before and behind the stretch is decoded too, so that folded records and context are whole; only
// records that begin within it count. One thread; a window is as large as its text.
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

/// Text of a file from the beginning of a line on.
struct Stretch {
  std::string_view text;
  std::uint64_t offset = 0;  ///< of the text
  std::uint64_t lines = 0;   ///< that stand before it, if `counted`
  bool counted = false;
  bool at_end = false;             ///< nothing follows: a last line without its end is one
  std::uint64_t from = 0, to = 0;  ///< records that begin here count
};

struct SeenLine {
  std::uint64_t offset = 0, number = 0;  ///< number: 0 if it is not known
  std::string_view raw;                  ///< without its end
  std::optional<TimeMs> time;
  std::optional<Rank> rank;
  std::string host;
  std::uint64_t record = 0;  ///< offset of its record, from 1; 0: of none
  bool wanted = true;        ///< said by somebody who is asked for
  bool hit = false;
  std::string message;  ///< of its record, where the user's expressions match it
};

/// What a question asks of a record.
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
std::vector<SeenLine> look_at(const Stretch& stretch, const Asked& asked, Blot& blot,
                              std::optional<TimeMs> year);

/// Time of the first record in a text that has one, and where it begins.
struct FirstTime {
  TimeMs time;
  std::uint64_t offset = 0;
};
std::optional<FirstTime> first_time(std::string_view text, std::uint64_t offset,
                                    const decode::Options& options, std::optional<TimeMs> year);

}  // namespace l4::lines
