// Numbers in text, whole and in the range of their type.
//
// Place in the flow: used by the readers of text in this room. Pure.
#pragma once

#include <charconv>
#include <string_view>
#include <system_error>

namespace l4::flows::decode {

/// False if `text` is no such number, or more than one.
template <class T>
bool read_number(std::string_view text, T& to) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace l4::flows::decode
