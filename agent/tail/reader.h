// Reads the parts of one log, oldest first, and gives their bytes to the sink.
//
// Place in the flow: scanner -> ready logs -> here -> Sink. Before any byte is given it is made
// sure that the file still holds the text of the part: by its first bytes, and by those before the
// offset. Keeps the number of open files within Options::descriptors_max: the one used longest ago
// is closed, those that could not be opened again last. Private to agent/tail; one thread; one
// buffer of Options::bytes_per_file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "agent/tail/context.h"
#include "agent/tail/scanner.h"

namespace l4::tail {

class Reader {
 public:
  Reader(Context& context, Scanner& scanner);

  struct Visit {
    std::size_t bytes = 0;
    bool more = false;  ///< there was more than `budget`
  };
  Visit visit(Log& log, std::size_t budget);

 private:
  /// What came of looking at a part: its text went on, it has none now, those behind it must wait,
  /// or the parts of the log are others now.
  enum class Step : std::uint8_t { gave, idle, wait, changed };

  Step step(Part& part, std::size_t budget);
  Step unplaced(Part& part);
  Step read_plain(Part& part, std::size_t budget);
  Step read_packed(Part& part, std::size_t budget);
  Step at_end(Part& part);
  static bool lacks_the_last(Part& part, std::uint64_t bytes);
  Step read_already(Part& part, const Status& status);
  Step failed(Part& part, int error);
  bool same_head(Part& part, std::uint64_t bytes);
  /// Reads on from part.read into the buffer. False: the text before it is another.
  Outcome<bool> fill(Part& part, std::size_t budget, TextFile::Piece& piece,
                     std::string_view& text);
  void hold(Part& part);
  bool open(Part& part, Step& otherwise);

  Context& context_;
  Scanner& scanner_;
  std::vector<char> buffer_;
  std::uint64_t visits_ = 0;
};

}  // namespace l4::tail
