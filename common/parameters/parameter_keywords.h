// The words of a message that name the kind of the number behind them: "rank", "Xid", "errno".
// Constants of common/parameters/parameters.cc, which has a rule for each. No state.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "common/parameters/by_first_letters.h"
#include "common/parameters/parameter_words.h"

namespace l4::parameters::words {

enum class Keyword : std::uint8_t {
  none,
  rank,
  xid,
  sxid,
  http,
  timeout,
  cuda,
  npu,
  gpu,
  device,
  errno_value,
  error,
  signal,
  exit_code,
  code,
  status,
};

struct NamedKeyword {
  std::string_view low;
  Keyword keyword = Keyword::none;
};

inline constexpr std::array kKeywordList{
    NamedKeyword{"rank", Keyword::rank},
    NamedKeyword{"ranks", Keyword::rank},
    NamedKeyword{"global_rank", Keyword::rank},
    NamedKeyword{"rankid", Keyword::rank},
    NamedKeyword{"xid", Keyword::xid},
    NamedKeyword{"sxid", Keyword::sxid},
    NamedKeyword{"http", Keyword::http},
    NamedKeyword{"timeout", Keyword::timeout},
    NamedKeyword{"cuda", Keyword::cuda},
    NamedKeyword{"npu", Keyword::npu},
    NamedKeyword{"gpu", Keyword::gpu},
    NamedKeyword{"device", Keyword::device},
    NamedKeyword{"device_id", Keyword::device},
    NamedKeyword{"deviceid", Keyword::device},
    NamedKeyword{"errno", Keyword::errno_value},
    NamedKeyword{"error", Keyword::error},
    NamedKeyword{"signal", Keyword::signal},
    NamedKeyword{"exitcode", Keyword::exit_code},
    NamedKeyword{"exit_code", Keyword::exit_code},
    NamedKeyword{"returncode", Keyword::exit_code},
    NamedKeyword{"code", Keyword::code},
    NamedKeyword{"status", Keyword::status},
};
inline constexpr ByFirstLetters kKeywords(kKeywordList);

inline Keyword keyword_of(std::string_view word) {
  if (word.empty()) return Keyword::none;
  for (const NamedKeyword& named : kKeywords.of(word))
    if (same(word, named.low)) return named.keyword;
  return Keyword::none;
}

}  // namespace l4::parameters::words
