// The character classes and word lists behind common/wire/parameters.cc: signals, units, prefixes
// of host names. Constants only, no state.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace l4::wire::words {

inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
inline bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
inline bool is_letter(char c) {
  return is_upper(c) || (c >= 'a' && c <= 'z');
}
inline bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
inline bool is_word(char c) {
  return is_letter(c) || is_digit(c) || c == '_';
}
inline bool is_host(char c) {
  return is_letter(c) || is_digit(c) || c == '-' || c == '.';
}
inline bool is_path(char c) {
  return is_word(c) || std::string_view("/.-+@%=,#~").find(c) != std::string_view::npos;
}

inline std::string lower(std::string_view text) {
  std::string low(text);
  for (char& c : low)
    if (is_upper(c)) c = static_cast<char>(c - 'A' + 'a');
  return low;
}

template <class Accept>
std::string_view front_while(std::string_view text, Accept accept) {
  const auto end = std::ranges::find_if_not(text, accept);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

inline constexpr std::array<std::pair<int, std::string_view>, 14> kSignals{{{1, "SIGHUP"},
                                                                            {2, "SIGINT"},
                                                                            {3, "SIGQUIT"},
                                                                            {4, "SIGILL"},
                                                                            {5, "SIGTRAP"},
                                                                            {6, "SIGABRT"},
                                                                            {7, "SIGBUS"},
                                                                            {8, "SIGFPE"},
                                                                            {9, "SIGKILL"},
                                                                            {10, "SIGUSR1"},
                                                                            {11, "SIGSEGV"},
                                                                            {12, "SIGUSR2"},
                                                                            {13, "SIGPIPE"},
                                                                            {15, "SIGTERM"}}};

inline constexpr std::array<std::string_view, 7> kHostPrefixes{
    "node", "dgx", "compute", "host", "inst-", "worker-", "ip-"};

struct Unit {
  std::string_view name;
  double ms;
};
inline constexpr std::array<Unit, 12> kUnits{{{"ms", 1},
                                              {"milliseconds", 1},
                                              {"millisecond", 1},
                                              {"s", 1000},
                                              {"sec", 1000},
                                              {"secs", 1000},
                                              {"second", 1000},
                                              {"seconds", 1000},
                                              {"min", 60'000},
                                              {"minute", 60'000},
                                              {"minutes", 60'000},
                                              {"hours", 3'600'000}}};

}  // namespace l4::wire::words
