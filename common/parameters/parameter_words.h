// The character classes and word lists of parameters.cc: signals, units, prefixes of host names.
// Constants only, no state.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace l4::parameters::words {

enum Class : unsigned char {
  kDigit = 1,
  kUpper = 2,
  kLower = 4,
  kHex = 8,
  kWord = 16,
  kHost = 32,
  kPath = 64
};

constexpr std::array<unsigned char, 256> make_classes() {
  std::array<unsigned char, 256> table{};
  const auto mark = [&](std::string_view bytes, unsigned bits) {
    for (const char c : bytes)
      table[static_cast<unsigned char>(c)] |= static_cast<unsigned char>(bits);
  };
  mark("0123456789", kDigit | kHex | kWord | kHost | kPath);
  mark("ABCDEFGHIJKLMNOPQRSTUVWXYZ", kUpper | kWord | kHost | kPath);
  mark("abcdefghijklmnopqrstuvwxyz", kLower | kWord | kHost | kPath);
  mark("abcdefABCDEF", kHex);
  mark("_", kWord | kPath);
  mark("-.", kHost);
  mark("/.-+@%=,#~", kPath);
  return table;
}

inline constexpr std::array<unsigned char, 256> kClasses = make_classes();

inline bool has(char c, unsigned bits) {
  return (kClasses[static_cast<unsigned char>(c)] & bits) != 0;
}
inline bool is_digit(char c) {
  return has(c, kDigit);
}
inline bool is_upper(char c) {
  return has(c, kUpper);
}
inline bool is_letter(char c) {
  return has(c, kUpper | kLower);
}
inline bool is_hex(char c) {
  return has(c, kHex);
}
inline bool is_word(char c) {
  return has(c, kWord);
}
inline bool is_host(char c) {
  return has(c, kHost);
}
inline bool is_path(char c) {
  return has(c, kPath);
}
inline char lower(char c) {
  return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
}

/// True if `text` in lower case is `low`.
inline bool same(std::string_view text, std::string_view low) {
  return text.size() == low.size() && std::equal(text.begin(), text.end(), low.begin(),
                                                 [](char a, char b) { return lower(a) == b; });
}
inline bool begins(std::string_view text, std::string_view low) {
  return same(text.substr(0, low.size()), low);
}

template <class Accept>
std::string_view front_while(std::string_view text, Accept accept) {
  std::size_t size = 0;
  while (size < text.size() && accept(text[size])) ++size;
  return text.substr(0, size);
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

/// Words that introduce a host.
inline constexpr std::array<std::string_view, 5> kBeforeHost{"host", "hostname", "node", "on",
                                                             "nodename"};

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

}  // namespace l4::parameters::words
