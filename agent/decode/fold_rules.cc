#include "agent/decode/fold_rules.h"

#include <algorithm>
#include <array>

#include "agent/text/level.h"
#include "agent/text/rows_by_first.h"
#include "agent/text/scan.h"

namespace l4::decode {
namespace {

struct Opening {
  std::string_view text;
  Shape shape;
};

constexpr std::array kShapeOpenings{
    Opening{"Traceback (most recent", Shape::traceback},
    Opening{"Exception ignored ", Shape::ignored},
    Opening{"File \"", Shape::file_frame},
    Opening{"> File \"", Shape::file_frame},  // loguru: the frame that caught the exception
    Opening{"During handling of the above exception", Shape::chain},
    Opening{"The above exception was the direct cause", Shape::chain},
    Opening{"terminate called", Shape::terminate},
    Opening{"what():", Shape::what},
    Opening{"Exception raised from ", Shape::raised},
    Opening{"C++ CapturedTraceback", Shape::raised},
    Opening{"frame #", Shape::frame},
    Opening{"<omitting python frames>", Shape::frame},
    Opening{"Fatal Python error:", Shape::fatal},
    Opening{"*** SIG", Shape::fatal},
    Opening{"*** Aborted at", Shape::fatal},
    Opening{"*** Process received signal", Shape::fatal},
    Opening{"*** Check failure stack trace", Shape::raised},
    Opening{"panic: ", Shape::fatal},
    Opening{"fatal error: ", Shape::fatal},
    Opening{"Timeout (0:", Shape::fatal},
    Opening{"goroutine ", Shape::thread},
    Opening{"created by ", Shape::frame},
    Opening{"[signal ", Shape::frame},
    Opening{"stack backtrace:", Shape::raised},
    Opening{"note: run with `RUST_BACKTRACE", Shape::note},
    Opening{"note: Some details are omitted", Shape::note},
    Opening{"Caused by: ", Shape::note},
    Opening{"==== backtrace", Shape::fatal},
    Opening{"PC: @", Shape::frame},
    Opening{"Thread 0x", Shape::thread},
    Opening{"Current thread 0x", Shape::thread},
    Opening{"Extension modules:", Shape::note},
    Opening{"usage: ", Shape::usage},
    Opening{"Usage: ", Shape::usage},
    Opening{"Signal: ", Shape::note},
    Opening{"Signal code: ", Shape::note},
    Opening{"Failing at address:", Shape::note},
    Opening{"*** End of error message", Shape::note},
    Opening{"CUDA kernel errors might be", Shape::note},
    Opening{"For debugging consider passing", Shape::note},
    Opening{"Compile with `TORCH_USE_CUDA_DSA`", Shape::note},
    Opening{"Device-side assertion", Shape::note},
    Opening{"Search for `cuda", Shape::note},
    Opening{"Last error:", Shape::note},
    Opening{"ncclUnhandledCudaError:", Shape::note},
    Opening{"ncclSystemError:", Shape::note},
    Opening{"ncclInternalError:", Shape::note},
    Opening{"ncclInvalidUsage:", Shape::note},
    Opening{"ncclInvalidArgument:", Shape::note},
    Opening{"ncclRemoteError:", Shape::note},
    Opening{"Set TORCHDYNAMO_VERBOSE=1", Shape::note},
    Opening{"You can suppress this exception", Shape::note},
};

/// `#3 0x..`, `#12 std::..`: gdb, ASan and c10.
bool numbered_frame(std::string_view text) {
  text::Cursor c{text};
  std::int64_t number = 0;
  if (c.accept('#'))
    return c.parse_number(1, 4, number) && (text::is_blank(c.peek()) || c.peek() == ':');
  if (c.accept("@")) {
    c.skip_blanks();
    return c.accept("0x");
  }
  if (c.accept('[')) {  // Open MPI: [ 3] /lib64/libc.so.6(+0x4e5a0)
    c.skip_blanks();
    return c.parse_number(1, 3, number) && c.accept("] ") &&
           (c.peek() == '/' || text::contains(c.rest(), "0x"));
  }
  if (!c.parse_number(1, 3, number)) return false;  // UCX: ` 0 0x0000 f() ../x.c:3`
  c.skip_blanks();
  return c.accept("0x") || (c.peek() == '/' && text::contains(text, "(+0x"));
}

/// `thread 'main' panicked at src/main.rs:4:5:`.
bool is_rust_panic(std::string_view text) {
  return text.starts_with("thread '") && text::contains(text.substr(0, 160), "' panicked at ");
}

/// Java's `at org.app.Main.run(Main.java:88)` and `... 3 more`.
bool is_java_frame(std::string_view text) {
  if (text.starts_with("at "))
    return text.back() == ')' && text.find('(') != std::string_view::npos;
  return text.starts_with("... ") && (text.ends_with(" more") || text::contains(text, " frames "));
}

/// Lines of rich's box around a traceback: they begin with a piece of the frame.
bool is_box_line(std::string_view text) {
  constexpr std::string_view kSide = "\u2502";
  return text.starts_with(kSide) || text.starts_with("\u2570") || text.starts_with("\u256d");
}

/// `==4711==ERROR: AddressSanitizer: ..`.
bool is_sanitizer_error(std::string_view text) {
  return text.starts_with("==") && text::contains(text.substr(0, 24), "==ERROR: ");
}

bool is_rule(std::string_view text) {
  if (text.size() < 8) return false;
  const char sign = text[0];
  if (sign != '=' && sign != '-' && sign != '*') return false;
  return text::trim_right(text).find_first_not_of(sign) == std::string_view::npos;
}

/// `x.py:12: FutureWarning: text`.
bool is_python_warning(std::string_view text) {
  const std::size_t at = text.substr(0, 300).find("Warning: ");
  if (at == std::string_view::npos || at < 4) return false;
  std::size_t begin = at;
  while (begin > 0 && text::is_alpha(text[begin - 1])) --begin;
  if (begin < 4 || !text.substr(0, begin).ends_with(": ")) return false;
  return text::is_digit(text[begin - 3]) && text::contains(text.substr(0, begin), ":");
}

Shape shape_by_opening(std::string_view text) {
  static constexpr text::RowsByFirst kByFirst{kShapeOpenings, &Opening::text};
  for (const Opening& opening : kByFirst.of(text[0]))
    if (text.starts_with(opening.text)) return opening.shape;
  return Shape::plain;
}

bool is_exception_line(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && n < 120 && (text::is_word(text[n]) || text[n] == '.')) ++n;
  if (n < text.size() && (text[n] != ':' || (n + 1 < text.size() && text[n + 1] != ' ')))
    return false;
  const std::string_view name = text.substr(0, n);
  return text::is_exception_name(name) && !name.ends_with("Warning");
}

}  // namespace

std::size_t indent_of(std::string_view body) {
  std::size_t indent = 0;
  for (const char c : body) {
    if (c == ' ')
      indent += 1;
    else if (c == '\t')
      indent += 4;
    else
      break;
  }
  return indent;
}

Shape shape_of(std::string_view body, Level level) {
  const std::string_view text = text::trim_left(body);
  if (text.empty()) return Shape::plain;
  const Shape opening = shape_by_opening(text);
  if (opening != Shape::plain) return opening;
  const char first = text[0];
  if (text.back() == ':' && text.ends_with("Traceback (most recent call last):"))
    return Shape::traceback;
  if (first == '#' || first == '@' || first == '[' || text::is_digit(first)) {
    if (numbered_frame(text)) return Shape::frame;
  } else if (first == '=' || first == '-' || first == '*') {
    if (is_rule(text)) return Shape::rule;
    if (is_sanitizer_error(text)) return Shape::fatal;
  } else if (first == '\xE2') {
    if (is_box_line(text))
      return text::contains(text, "Traceback (most recent") ? Shape::traceback : Shape::group;
  } else if (first == '+' && (text.starts_with("+-") || text.starts_with("+ Exception Group"))) {
    return text[1] == '-' ? Shape::group : Shape::traceback;
  } else if (first == '|' && text.size() != body.size()) {
    return Shape::group;
  } else if (text::is_alpha(first) || first == '_') {
    if (is_exception_line(text)) return Shape::exception;
    if (first == 't' && is_rust_panic(text)) return Shape::fatal;
    if (first == 'a' && text.size() != body.size() && is_java_frame(text)) return Shape::frame;
  } else if (first == '.' && text.size() != body.size() && is_java_frame(text)) {
    return Shape::frame;
  }
  if (level == Level::warning && (first == '/' || first == '<' || text::is_alpha(first)) &&
      is_python_warning(text))
    return Shape::warning;
  const std::size_t indent = indent_of(body);
  if (level == Level::error && indent == 0 && text::contains(text.substr(0, 80), ": error: "))
    return Shape::usage_error;
  return indent >= 2 ? Shape::indented : Shape::plain;
}

bool class_like(std::string_view body) {
  std::size_t n = 0;
  std::size_t name = 0;
  while (n < body.size() && n < 120 && (text::is_word(body[n]) || body[n] == '.')) {
    if (body[n] == '.') name = n + 1;
    ++n;
  }
  if (n == body.size()) {
    if (n <= name + 2 || !text::is_upper(body[name])) return false;
    if (name > 0) return true;  // _queue.Empty
    constexpr std::size_t kLoneMin = 6;
    const auto inner = body.substr(1);  // GeneratorExit, EarlyStop
    return n >= kLoneMin && std::ranges::any_of(inner, text::is_upper) &&
           std::ranges::all_of(inner, text::is_alpha) &&
           !std::ranges::all_of(inner, text::is_upper);
  }
  if (body[n] != ':' || (n + 1 < body.size() && body[n + 1] != ' ')) return false;
  if (n < name + 3 || text::level_of_word(body.substr(0, n)) != Level::unknown) return false;
  return text::is_upper(body[name]);
}

bool go_function(std::string_view body) {
  const std::size_t open = body.find('(');
  return open != std::string_view::npos && open > 0 && body.back() == ')' &&
         body.find(' ') > open && text::is_alpha(body[0]);
}

constexpr std::string_view kBoxSide = "=   ";  // of the box in which Hydra tells who ended

bool lists_below(std::string_view body) {
  constexpr std::size_t kHeadMax = 160;
  constexpr std::array<std::string_view, 12> kListed{
      "ranks",    "tasks",    "nodes",      "hosts",      "pods",     "workers",
      "machines", "trainers", "task names", "node names", "task ids", "rank ids"};
  const std::string_view text = text::trim_right(body);
  if (text.starts_with(kBoxSide)) return true;
  if (!text.ends_with(':')) return false;
  const std::string_view head = text.substr(text.size() - std::min(text.size(), kHeadMax));
  return std::ranges::any_of(kListed, [&](std::string_view word) {
    const std::size_t at = head.find(word);
    if (at == std::string_view::npos) return false;
    const bool begins = at == 0 || !text::is_word(head[at - 1]);
    return begins && !text::is_word(head[at + word.size()]);
  });
}

bool list_row(std::string_view body) {
  const std::string_view text = text::trim_left(body);
  if (text.starts_with("/job:") || text.starts_with("- ") || text.starts_with(kBoxSide))
    return true;
  text::Cursor c{text};
  std::int64_t number = 0;
  return c.parse_number(1, 6, number) && (c.done() || c.accept(": [") || c.peek() == ',');
}

bool table_line(std::string_view body) {
  const std::string_view text = text::trim(body);
  if (text.empty() || is_rule(text)) return true;
  if (text.ends_with(" FAILED") || text == "Failures:" || text.starts_with("Root Cause") ||
      text == "Other Failures:")
    return true;
  if (text == "<NO_OTHER_FAILURES>") return true;
  if (text[0] == '[') {
    text::Cursor c{text, 1};
    std::int64_t number = 0;
    return c.parse_number(1, 6, number) && c.accept("]:");
  }
  return indent_of(body) >= 2 && text::contains(text.substr(0, 16), ":");
}

}  // namespace l4::decode
