#include "agent/decode/timestamp_formats.h"

#include <array>

#include "agent/decode/stamp_scanners.h"

namespace l4::decode {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kDigitsUppers = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view kInNames = "acehopru";  // second letters of months and days, and ...
constexpr std::string_view kInDates = "0123456789 /-MTWFSJAONDacehopru";  // ... of their numbers
constexpr std::string_view kInIso = "-.";
constexpr std::string_view kNever = "\n";  // no line of the row begins with digits
constexpr std::string_view kAny = {};

// In this order: a row that is more special stands before one that would take its lines too.
constexpr std::array kFormats{
    StampFormat{"mllog", ":", ":", kAny, stamps::mllog},
    StampFormat{"python", "12", kDigits, kInIso, stamps::python},
    StampFormat{"ascend", "[12", kAny, kAny, stamps::ascend},
    StampFormat{"syslog_iso", "12", kDigits, kInIso, stamps::syslog_iso},
    StampFormat{"iso", "12", kDigits, kInIso, stamps::iso},
    StampFormat{"bracket_iso", "[(", kDigits, kInIso, stamps::bracket_iso},
    StampFormat{"nemo", "[", kLetters, kAny, stamps::nemo},
    StampFormat{"glog", "[IWEFDVC", "0123456789IWEFDVC", kNever, stamps::glog},
    StampFormat{"tornado", "[", "IWEFDVC", kAny, stamps::tornado},
    StampFormat{"month_day", "[01TDINWECFS", kDigitsUppers, "-", stamps::month_day},
    StampFormat{"tagged_iso", "[TDINWECFtdinwecf", kAny, kAny, stamps::tagged_iso},
    StampFormat{"bracket_epoch", "[", kDigits, ".]", stamps::bracket_epoch},
    StampFormat{"epoch", "12", kDigits, ". \t", stamps::epoch},
    StampFormat{"us_slash", kDigits, "0123456789/", "/", stamps::us_slash},
    StampFormat{"slash", kDigits, kDigits, "/", stamps::slash},
    StampFormat{"month_slash", "01", kDigits, "/", stamps::month_slash},
    StampFormat{"bracket_slash", "[", kDigits, "/", stamps::bracket_slash},
    StampFormat{"iso_basic", "12", kDigits, "T -_", stamps::iso_basic},
    StampFormat{"clock", "[012", "0123456789:", ":", stamps::clock_only},
    StampFormat{"one_ccl", "12", kDigits, ":", stamps::one_ccl},
    StampFormat{"ctime", "[MTWFS", "MTWFSaehoru", kAny, stamps::ctime_like},
    StampFormat{"date_in_words", "[0123456789MTWFSJAOND", kInDates, " /-.", stamps::date_in_words},
    StampFormat{"syslog", "JFMASOND", kInNames, kAny, stamps::syslog},
    StampFormat{"syslog_priority", "<", kDigits, kAny, stamps::syslog_priority},
    StampFormat{"uptime", "[", " \t+0123456789", ".", stamps::uptime},
    StampFormat{"dmesg_minute", "[", "JFMASOND", kAny, stamps::dmesg_minute},
    StampFormat{"kmsg", kDigits, "0123456789,", ",", stamps::kmsg},
    StampFormat{"dmesg_decoded", "kusdalnmf", kAny, kAny, stamps::dmesg_decoded},
    StampFormat{"access_log", "123456789", kAny, kAny, stamps::access_log},
    StampFormat{"keyed", "{t", "\"is", kAny, stamps::keyed},
    StampFormat{"spoken", "[sSER", kAny, kAny, stamps::spoken},
};
static_assert(kFormats.size() <= kStampFormatsMax);

/// For each character the rows that may have it at one place.
using RowsByCharacter = std::array<std::uint64_t, 256>;

constexpr RowsByCharacter rows_by(std::string_view StampFormat::* place) {
  RowsByCharacter rows{};
  for (std::size_t row = 0; row < kFormats.size(); ++row) {
    const std::uint64_t bit = std::uint64_t{1} << row;
    for (const char c : kFormats[row].*place) rows[static_cast<unsigned char>(c)] |= bit;
    if ((kFormats[row].*place).empty())
      for (std::uint64_t& any : rows) any |= bit;
  }
  return rows;
}

constexpr RowsByCharacter kByFirst = rows_by(&StampFormat::first);
constexpr RowsByCharacter kBySecond = rows_by(&StampFormat::second);
constexpr RowsByCharacter kByBehind = rows_by(&StampFormat::behind);

}  // namespace

std::span<const StampFormat> stamp_formats() {
  return kFormats;
}

std::uint64_t stamp_rows(std::string_view line) {
  if (line.size() < 2) return 0;
  const std::uint64_t rows = kByFirst[static_cast<unsigned char>(line[0])] &
                             kBySecond[static_cast<unsigned char>(line[1])];
  if (rows == 0) return 0;
  const std::size_t from = line[0] == '[' || line[0] == '(' ? 1 : 0;
  std::size_t at = from;
  while (at < line.size() && is_digit(line[at])) ++at;
  return at == from || at == line.size() ? rows
                                         : rows & kByBehind[static_cast<unsigned char>(line[at])];
}

}  // namespace l4::decode
