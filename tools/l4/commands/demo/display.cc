#include "tools/l4/commands/demo/display.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

namespace l4::commands::demo {
namespace {

constexpr std::size_t kWidthElsewhere = 100;

/// Terminals that understand no sequences say so in TERM.
bool can_rewrite(int descriptor) {
  const char* term = std::getenv("TERM");
  return ::isatty(descriptor) != 0 && term != nullptr && std::string_view(term) != "dumb";
}

}  // namespace

Display::Display(int descriptor) : descriptor_(descriptor), live_(can_rewrite(descriptor)) {}

serve::TextStyle Display::style() const {
  serve::TextStyle style;
  style.color = ::isatty(descriptor_) != 0 && std::getenv("NO_COLOR") == nullptr;
  style.width = kWidthElsewhere;
  winsize size{};
  if (::ioctl(descriptor_, TIOCGWINSZ, &size) == 0 && size.ws_col != 0) style.width = size.ws_col;
  return style;
}

std::string Display::erased() const {
  const auto lines = std::ranges::count(block_, '\n');
  return lines == 0 ? std::string() : fmt::format("\r\x1b[{}A\x1b[J", lines);
}

void Display::say(std::string_view text) {
  write(erased() + std::string(text) + block_);
}

void Display::show(std::string text) {
  if (!live_ || text == block_) return;
  const std::string before = erased();
  block_ = std::move(text);
  write(before + block_);
}

void Display::write(std::string_view text) {
  while (!text.empty() && !gone_) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd room{descriptor_, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (errno != EINTR) {
      gone_ = true;
    }
  }
}

}  // namespace l4::commands::demo
