// What a command found in order or not, and what to do about it: a row each, the count at the end.
//
// Flow: `l4 setup`, `l4 check` -> rows -> a page for people, or JSON. Texts may come from
// elsewhere: the page makes them harmless. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "aggregator/serve/json_text.h"
#include "aggregator/serve/page.h"

namespace l4::terminal {

enum class Mark : std::uint8_t {
  fine,
  note,  ///< good to know; nothing to do
  look,  ///< something is wrong
};

struct Remark {
  Mark mark = Mark::fine;
  std::string about;  ///< a word: "key", "source"
  std::string text;   ///< what was found
  std::string next;   ///< what to do; empty if there is nothing to do
};

std::size_t count_looks(const std::vector<Remark>& remarks);
/// "all is well", "1 thing to look at"
std::string verdict(std::size_t looks);

void append_remarks(serve::Page& page, const std::vector<Remark>& remarks, std::size_t width);
/// The list as a JSON array: state (ok, note, look), about, text, next.
void write_remarks(serve::JsonWriter& json, const std::vector<Remark>& remarks);

}  // namespace l4::terminal
