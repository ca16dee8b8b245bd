// A terminal page that is redrawn again and again: `l4 watch` and `l4 top`.
// While the screen lives, the terminal shows another page without cursor and echo, and signals that
// end the program are kept for wait(). The destructor restores everything. One at a time, one
// thread. make() returns nothing if standard output is not a terminal.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "common/base/time.h"

namespace l4::terminal {

class Screen {
 public:
  enum class Next { again, end };

  static std::unique_ptr<Screen> make();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// Lines that fit.
  std::size_t height() const;
  /// Lines that do not fit are left out and counted. No line may be wider than the terminal.
  void draw(std::string_view text);
  /// Waits until the time is over or the size has changed; returns `end` at q, Ctrl-C or another
  /// signal that ends programs.
  Next wait(Millis most);

 private:
  struct Saved;
  explicit Screen(std::unique_ptr<Saved> saved);
  std::unique_ptr<Saved> saved_;
};

}  // namespace l4::terminal
