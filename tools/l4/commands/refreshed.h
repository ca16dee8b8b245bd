// Shared by `l4 watch` and `l4 top`: an answer that is requested every few seconds, and the line
// above it on the screen.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "aggregator/serve/report_text.h"
#include "common/base/time.h"
#include "tools/l4/ask/asking.h"
#include "tools/l4/terminal/options.h"

namespace l4::commands {

/// A question that is repeated, and its last answer.
template <class T>
struct Latest {
  T content;
  TimeMs at{};
  bool failed = false;  ///< then `why`
  ask::Failure why;

  const ask::Failure* trouble() const { return failed ? &why : nullptr; }
  void update(ask::Answer<T> answer) {
    failed = !answer;
    if (failed) {
      why = answer.error();
      return;
    }
    content = std::move(*answer);
    at = std::chrono::floor<Millis>(std::chrono::system_clock::now());
  }
};

/// The line above each screen: what is shown, how fresh it is, how to leave.
std::string screen_header(std::string_view what, TimeMs asked, const ask::Failure* failure,
                          const serve::TextStyle& style);
/// --every.
void add_every(terminal::Options& to, unsigned& seconds);

}  // namespace l4::commands
