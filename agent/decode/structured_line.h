// Lines of structured loggers: one JSON object, or logfmt's `key=value`.
//
// Place in the flow: the decoder opens a structured line behind the prefixes, like an envelope of
// the message in it. The table in structured_keys.cc gives the meaning of keys; it covers loguru,
// python-json-logger, structlog, zap, logrus, slog, tracing, pino, ECS, GELF, journald and the log
// collectors. Fields without a special meaning follow the message as ` key=value`. Buffers keep
// their capacity, so no line allocates. Broken lines are read as text. One reader per file, one
// thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent/stamps/formats.h"
#include "common/base/ids.h"
#include "common/base/vocabulary.h"

namespace l4::decode {

/// A leaf: `value` is a number, a word, an array, or a string with its escapes.
struct Field {
  std::string_view parent, key, value;
  bool text = false;     ///< a string
  bool escaped = false;  ///< a JSON string with escapes
};

class StructuredLine {
 public:
  /// False if the line is no JSON object; `text()` is empty if it has no message.
  bool read_json(std::string_view line);
  /// False if the line has no message, or begins with neither a level nor a time.
  bool read_logfmt(std::string_view line);

  std::string_view text() const { return text_; }
  std::string_view host() const { return host_; }
  std::optional<stamps::RawStamp> stamp;  ///< has a time only, nothing to cut
  Level level = Level::unknown;
  std::optional<Rank> rank;
  std::optional<std::int32_t> local_rank;

 private:
  enum Part : std::uint8_t { kMessage, kType, kReason, kTrace, kHost, kParts };

  void begin();
  void apply(const Field& field);
  void apply_level(const Field& field);
  void apply_time(const Field& field);
  void keep(Part part, const Field& field, int priority);
  void add_extra(const Field& field);
  void finish();
  void append_exception();

  std::array<std::string, kParts> parts_;
  std::array<int, kParts> priorities_{};
  std::string extras_, text_, host_, scratch_;
  int level_priority_ = 0, time_priority_ = 0;
};

}  // namespace l4::decode
