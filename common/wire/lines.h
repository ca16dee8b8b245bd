// Questions about raw lines and their answers, as values: the bodies of `ask` and `answer`.
//
// Flow: aggregator/fetch makes a question of what the job's streams know, an agent reads its own
// files for it, the answer comes in parts; common/wire/codec turns both into bytes. The topic is
// kLinesTopic; an agent that does not know it answers with kUnsupportedTopic and no body. Bounds
// stand at the fields; the decoder refuses messages that break them. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"

namespace l4::wire {

inline constexpr std::string_view kLinesTopic = "lines", kUnsupportedTopic = "unsupported";

inline constexpr std::size_t kLinesFilesMax = 4096;      ///< files of one question
inline constexpr std::size_t kLinesSpeakersMax = 1024;   ///< speakers of one file
inline constexpr std::size_t kLinesTemplatesMax = 4096;  ///< ids, and texts, of one question
inline constexpr std::size_t kLinesContextMax = 100;     ///< lines before, and behind, a hit
inline constexpr std::size_t kLinesMax = 10'000;         ///< lines of one answer, in all parts
inline constexpr std::size_t kLineTextBytesMax = 16 * 1024;
inline constexpr std::size_t kLinesGapsMax = 1024;
/// Bytes of a part; a line that would exceed them begins the next part.
inline constexpr std::size_t kLinesPartBytes = 256 * 1024;

/// A speaker in a file that several write, as prefixes of its lines name it.
struct LinesSpeaker {
  std::optional<Rank> rank;
  std::optional<std::int32_t> local_rank;
  std::string host;  ///< at most kNameBytesMax
  bool operator==(const LinesSpeaker&) const = default;
};

/// A log: the file of this name, and all that it was rotated into.
struct LinesFile {
  std::string path;      ///< as the agent calls it: SourceDefinition::path; at most kPathBytesMax
  bool everyone = true;  ///< lines of all speakers; else of `speakers`
  bool hosts = false;    ///< speakers are also told apart by host
  std::vector<LinesSpeaker> speakers;
  std::uint64_t counted = 0;   ///< lines of the template that were counted in this file
  std::optional<TimeMs> last;  ///< time of the newest of these lines: where to look first
  bool operator==(const LinesFile&) const = default;
};

/// With `templates` or `texts`, asks for lines of these; else, with `around`, for the first line at
/// or behind that time; else for the end of each log.
struct LinesQuestion {
  std::string job;
  std::vector<LocalTemplateId> templates;  ///< as this incarnation of the agent calls them
  std::vector<std::string> texts;          ///< template texts, for an agent that never met them
  std::vector<LinesFile> files;
  std::optional<TimeMs> around;
  std::uint32_t context = 0;     ///< lines before and behind each hit, at most kLinesContextMax
  std::uint32_t lines_max = 0;   ///< hits of the whole answer, at most kLinesMax
  std::uint64_t bytes_max = 0;   ///< bytes of text in the answer
  std::uint32_t timeout_ms = 0;  ///< after this time the answer is not needed
  bool asks_template() const { return !templates.empty() || !texts.empty(); }
  bool operator==(const LinesQuestion&) const = default;
};

struct RawLine {
  std::uint32_t file = 0;    ///< place in LinesAnswer::files
  std::uint32_t asked = 0;   ///< place in LinesQuestion::files
  std::uint64_t offset = 0;  ///< offset of the first byte in the unpacked file
  /// From 1; 0: unknown, because the file was not read from its beginning.
  std::uint64_t number = 0;
  std::optional<TimeMs> time;
  std::optional<Rank> rank;  ///< as the line's prefix names it
  std::string host;
  std::string text;  ///< redacted; any bytes but LF, at most kLineTextBytesMax
  bool hit = false;  ///< else it is context
  bool cut = false;  ///< the line goes on
  bool operator==(const RawLine&) const = default;
};

/// The reason why expected lines are missing.
enum class LinesGapKind : std::uint8_t {
  other,
  not_followed,  ///< the agent follows no such log
  none_left,     ///< no file of the log exists any more
  older,         ///< the requested time lies before all remaining lines
  fewer,         ///< more lines were counted than are left in the files
  no_time,       ///< its lines have no times: its end was read instead
  unreadable,    ///< a file that cannot be opened, or breaks off
  limit_lines,   ///< more lines exist than the question asks for
  limit_bytes,   ///< the bound on bytes of text was reached
  limit_read,    ///< the bound on bytes to read was reached
  limit_time,    ///< the time for the question was over
  busy,          ///< too many questions, or the agent does not keep up with the logs
  off,           ///< forbidden by the agent's config
  // Set by an aggregator alone:
  not_connected,
  too_old,    ///< the agent is too old to answer such questions
  no_answer,  ///< no answer came in time
  left,       ///< the connection ended before the answer was complete
  limit_agents,
};
inline constexpr std::size_t kLinesGapKinds = 18;
/// "none_left": for programs.
std::string_view to_string(LinesGapKind kind);

struct LinesGap {
  LinesGapKind kind = LinesGapKind::other;
  std::optional<std::uint32_t> asked;  ///< place in LinesQuestion::files; none: all of them
  std::string file;                    ///< physical one; may be empty
  std::string text;                    ///< a sentence, at most kControlTextBytesMax
  bool operator==(const LinesGap&) const = default;
};

/// A part of an answer; the counts of all parts are to be added up.
struct LinesAnswer {
  std::vector<std::string> files;  ///< the physical files, as the agent opens them
  std::vector<RawLine> lines;      ///< by `asked`, then in the order of the text
  std::vector<LinesGap> gaps;
  std::uint64_t bytes_read = 0;
  std::uint64_t redacted = 0;  ///< lines in which something was blotted out
  bool operator==(const LinesAnswer&) const = default;
};

}  // namespace l4::wire
