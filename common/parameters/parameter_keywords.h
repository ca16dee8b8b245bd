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

inline constexpr std::array<NamedKeyword, 22> kKeywordList{{{"rank", Keyword::rank},
                                                            {"ranks", Keyword::rank},
                                                            {"global_rank", Keyword::rank},
                                                            {"rankid", Keyword::rank},
                                                            {"xid", Keyword::xid},
                                                            {"sxid", Keyword::sxid},
                                                            {"http", Keyword::http},
                                                            {"timeout", Keyword::timeout},
                                                            {"cuda", Keyword::cuda},
                                                            {"npu", Keyword::npu},
                                                            {"gpu", Keyword::gpu},
                                                            {"device", Keyword::device},
                                                            {"device_id", Keyword::device},
                                                            {"deviceid", Keyword::device},
                                                            {"errno", Keyword::errno_value},
                                                            {"error", Keyword::error},
                                                            {"signal", Keyword::signal},
                                                            {"exitcode", Keyword::exit_code},
                                                            {"exit_code", Keyword::exit_code},
                                                            {"returncode", Keyword::exit_code},
                                                            {"code", Keyword::code},
                                                            {"status", Keyword::status}}};
inline constexpr ByFirstLetters kKeywords(kKeywordList);

inline Keyword keyword_of(std::string_view word) {
  if (word.empty()) return Keyword::none;
  for (const NamedKeyword& named : kKeywords.of(word))
    if (same(word, named.low)) return named.keyword;
  return Keyword::none;
}

}  // namespace l4::parameters::words
