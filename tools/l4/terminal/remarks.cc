#include "tools/l4/terminal/remarks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "aggregator/serve/utf8.h"

namespace l4::terminal {
namespace {

using serve::Tone;

struct Look {
  std::string_view word, name;  ///< on a page, in JSON
  Tone tone;
};

const Look& look_of(Mark mark) {
  static constexpr std::array kLooks{Look{"ok  ", "ok", Tone::good},
                                     Look{"note", "note", Tone::dim},
                                     Look{"LOOK", "look", Tone::bad}};
  return kLooks.at(static_cast<std::size_t>(mark));
}

/// The words of a text, wrapped; a command that must not be cut stands on a line of its own.
std::vector<std::string> lines_of(const std::string& text, std::size_t width) {
  constexpr std::size_t kLinesMax = 12;
  return serve::wrap(serve::harmless(text), width, kLinesMax);
}

}  // namespace

std::size_t count_looks(const std::vector<Remark>& remarks) {
  return static_cast<std::size_t>(std::ranges::count(remarks, Mark::look, &Remark::mark));
}

std::string verdict(std::size_t looks) {
  if (looks == 0) return "all is well";
  return fmt::format("{} {} to look at", looks, looks == 1 ? "thing" : "things");
}

void append_remarks(serve::Page& page, const std::vector<Remark>& remarks, std::size_t width) {
  constexpr std::size_t kMarkWidth = 4, kGap = 2, kRoomMin = 24;
  std::size_t about = 0;
  for (const Remark& remark : remarks) about = std::max(about, serve::cells(remark.about));
  const std::size_t front = kMarkWidth + kGap + about + kGap;
  const std::size_t room = std::max(width, front + kRoomMin) - front;
  for (const Remark& remark : remarks) {
    const Look& look = look_of(remark.mark);
    std::vector<serve::Span> first{{std::string(look.word), look.tone},
                                   {std::string(kGap, ' ') + remark.about +
                                    std::string(about - serve::cells(remark.about) + kGap, ' ')}};
    for (const std::string& line : lines_of(remark.text, room)) {
      first.push_back({line});
      page.title(first);
      first = {{std::string(front, ' ')}};
    }
    if (remark.next.empty()) continue;
    std::string lead = "→ ";
    for (const std::string& line : lines_of(remark.next, room - 2)) {
      page.title({{std::string(front, ' ')}, {lead + line, Tone::strong}});
      lead = "  ";
    }
  }
}

void write_remarks(serve::JsonWriter& json, const std::vector<Remark>& remarks) {
  json.open('[');
  for (const Remark& remark : remarks) {
    json.open('{').member("state", look_of(remark.mark).name).member("about", remark.about);
    json.member("text", remark.text);
    json.member("next", remark.next.empty() ? std::nullopt : std::optional(remark.next));
    json.close('}');
  }
  json.close(']');
}

}  // namespace l4::terminal
