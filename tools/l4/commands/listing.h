// A list that an aggregator answered, as JSON or as a table.
//
// Flow: fetch_list -> show_list -> standard output. Bounds: 64 MiB of answer, 10 s.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "tools/l4/ask/asking.h"
#include "tools/l4/ask/live_json.h"
#include "tools/l4/commands/live_view.h"
#include "tools/l4/terminal/output.h"

namespace l4::commands {

inline constexpr Millis kListTimeout{10'000};

/// Shows the answer `body` as JSON, or as the text that `read` and to_text make of it. Exit status:
/// 0 done; 2 output that cannot be written; 3 no answer, or one of another form.
template <class Read>
int show_list(const std::string& format, const ask::Aggregator& asked,
              const ask::Answer<std::string>& body, Read read, std::string_view program) {
  const auto give_up = [&](const ask::Failure& why) {
    return terminal::fail(why.error, why.exit, program);
  };
  if (!body) return give_up(body.error());
  const auto list = read(*body);
  if (!list) return give_up(ask::misread(asked, list.error()).error());
  if (format == "json") {
    const auto tidy = ask::tidied_json(*body);
    if (!tidy) return give_up(ask::misread(asked, tidy.error()).error());
    return terminal::write_text(*tidy, {}, program);
  }
  const auto now = std::chrono::floor<Millis>(std::chrono::system_clock::now());
  const std::string text = to_text(
      *list, now, {.color = terminal::is_color_wanted(), .width = terminal::width_of_output()});
  return terminal::write_text(text, {}, program);
}

}  // namespace l4::commands
