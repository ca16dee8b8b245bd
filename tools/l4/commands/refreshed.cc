#include "tools/l4/commands/refreshed.h"

#include <fmt/format.h>

#include "aggregator/serve/page.h"
#include "aggregator/serve/utf8.h"

namespace l4::commands {

std::string screen_header(std::string_view what, TimeMs asked, const ask::Failure* failure,
                          const serve::TextStyle& style) {
  serve::Page page(style);
  const std::string time = to_rfc3339(asked).substr(11, 8);
  page.title({{std::string(what), serve::Tone::strong},
              {fmt::format("  as of {} UTC  ", time), serve::Tone::dim},
              {failure ? "no answer since, asked again" : "q ends",
               failure ? serve::Tone::uneasy : serve::Tone::dim}});
  if (failure) page.title({{serve::harmless(failure->error.text()), serve::Tone::uneasy}});
  page.gap();
  return page.release();
}

void add_every(terminal::Options& to, unsigned& seconds) {
  to.value("--every", seconds, "SECONDS", "between two looks (default: 2)").between(1, 3'600);
}

}  // namespace l4::commands
