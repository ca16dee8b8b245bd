// Reads the parts of one log, oldest first, and gives their bytes to the sink.
//
// Place in the flow: scanner -> ready logs -> here -> Sink. Before it gives a byte, the reader
// verifies that the file still holds the text of the part: by the first bytes, and by those before
// the offset. Private to agent/tail; one thread; one buffer of Options::bytes_per_file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "agent/tail/context.h"
#include "agent/tail/scanner.h"

namespace l4::tail {

class Reader {
 public:
  Reader(Context& context, Folders& folders, OpenFiles& open_files, Placement& placement,
         Scanner& scanner);

  struct Visit {
    std::size_t bytes = 0;
    bool more = false;  ///< more bytes wait than `budget` allows
  };
  Visit visit(TailedLog& log, std::size_t budget);

 private:
  /// Result of a step: the part gave bytes, it has none now, the parts behind it must wait, or the
  /// list of parts has changed.
  enum class Step : std::uint8_t { gave, idle, wait, changed };

  Step step(LogPart& part, std::size_t budget);
  Step unplaced(LogPart& part);
  Step read_plain(LogPart& part, std::size_t budget);
  Step read_packed(LogPart& part, std::size_t budget);
  Step at_end(LogPart& part);
  static bool lacks_the_last(LogPart& part, std::uint64_t bytes);
  Step read_already(LogPart& part, const Status& status);
  Step failed(LogPart& part, int error);
  bool same_head(LogPart& part, std::uint64_t bytes);
  /// Reads on from part.read into the buffer. False: the file holds another text before it.
  Outcome<bool> fill(LogPart& part, std::size_t budget, TextFile::Piece& piece,
                     std::string_view& text);
  void hold(LogPart& part);
  bool open(LogPart& part, Step& otherwise);

  Context& context_;
  Folders& folders_;
  OpenFiles& open_files_;
  Placement& placement_;
  Scanner& scanner_;
  std::vector<char> buffer_;
  std::uint64_t visits_ = 0;
};

}  // namespace l4::tail
