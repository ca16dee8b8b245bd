#include "tools/l4/terminal/output.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>

#include "aggregator/serve/utf8.h"
#include "tools/l4/terminal/exit.h"

namespace l4::terminal {

std::size_t width_of_output() {
  constexpr std::size_t kElsewhere = 160;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kElsewhere;
  return size.ws_col;
}

int finish_output(std::string_view program) {
  constexpr int kReaderGone = 128 + SIGPIPE;
  if (std::cout) errno = 0;  // else errno says why an earlier write failed
  std::cout << std::flush;
  if (std::cout) return kDone;
  const int code = errno;
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  if (::poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0) return kReaderGone;
  const std::string reason = code != 0 ? std::string(": ") + std::strerror(code) : "";
  return fail({"standard output", "cannot be written" + reason}, kWrongUse, program);
}

bool is_color_wanted() {
  return ::isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
}

serve::TextStyle style_of_output() {
  serve::TextStyle style;
  style.color = is_color_wanted();
  style.width = width_of_output();
  return style;
}

int write_text(const std::string& text, const std::filesystem::path& file,
               std::string_view program) {
  if (file.empty()) {
    std::cout << text;
    return finish_output(program);
  }
  errno = 0;
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (out) return kDone;
  return fail({file.string(), std::string("cannot write the report: ") + std::strerror(errno)},
              kWrongUse, program);
}

int write_whole(const std::string& text, const std::filesystem::path& file,
                std::string_view program) {
  namespace fs = std::filesystem;
  std::error_code wrong;
  const fs::path place = fs::is_symlink(file, wrong) ? fs::weakly_canonical(file, wrong) : file;
  const fs::file_status before = fs::status(place, wrong);
  if (fs::exists(before) && !fs::is_regular_file(before)) return write_text(text, place, program);
  const fs::path beside = place.string() + ".new";
  errno = 0;
  std::ofstream out(beside, std::ios::binary | std::ios::trunc);
  const bool is_ours = out.is_open();
  out << text;
  out.close();
  wrong.clear();
  if (!out) wrong.assign(errno, std::generic_category());
  if (!wrong && fs::exists(before)) fs::permissions(beside, before.permissions(), wrong);
  if (!wrong) fs::rename(beside, place, wrong);
  if (!wrong) return kDone;
  std::error_code ignored;
  if (is_ours) fs::remove(beside, ignored);
  return fail({file.string(), "cannot write the report: " + wrong.message()}, kWrongUse, program);
}

Result<void> check_writable(const char* option, const std::filesystem::path& file) {
  if (file.empty()) return {};
  std::error_code ignored;
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  if (!std::filesystem::is_directory(folder, ignored))
    return std::unexpected(Error{fmt::format("{}: {}", option, file.string()),
                                 "there is no folder " + folder.string()});
  const bool there = std::filesystem::exists(file, ignored);
  if (std::filesystem::is_directory(file, ignored) ||
      ::access(there ? file.c_str() : folder.c_str(), W_OK) != 0)
    return std::unexpected(
        Error{fmt::format("{}: {}", option, file.string()), "cannot be written"});
  return {};
}

int fail(const Error& error, int exit, std::string_view program) {
  std::cerr << program << ": " << serve::harmless(error.text()) << '\n';
  return exit;
}

}  // namespace l4::terminal
