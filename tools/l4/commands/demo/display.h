// What a demo shows: a text that grows, and below it on a terminal a block that is rewritten.
//
// Flow: texts of story.h -> Display -> standard output, or standard error where that is for JSON. A
// reader that has gone away, such as a closed terminal, makes is_gone() true, and nothing more is
// written. One owner, one thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "aggregator/serve/report_text.h"

namespace l4::commands::demo {

class Display {
 public:
  explicit Display(int descriptor);
  /// Leaves the block as it stands.
  ~Display() = default;
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;

  /// Whether a block can be rewritten.
  bool is_live() const { return live_; }
  /// Colours and width of now.
  serve::TextStyle style() const;
  /// Appends lines; a block is written again below them.
  void say(std::string_view text);
  /// Puts these lines in the place of the block; an empty text removes it. Does nothing where
  /// nothing can be rewritten.
  void show(std::string text);
  bool is_gone() const { return gone_; }

 private:
  void write(std::string_view text);
  /// The sequence that brings the cursor to the begin of the block and erases it.
  std::string erased() const;

  int descriptor_;
  bool live_ = false, gone_ = false;
  std::string block_;
};

}  // namespace l4::commands::demo
