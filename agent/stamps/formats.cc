#include "agent/stamps/formats.h"

#include <array>

#include "agent/stamps/figures.h"
#include "agent/stamps/framed.h"
#include "agent/stamps/loggers.h"
#include "agent/stamps/spoken.h"
#include "agent/stamps/systems.h"
#include "agent/stamps/worded.h"
#include "agent/text/scan.h"

namespace l4::stamps {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kDigitsUppers = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view kInNames = "acehopru";  // second letters of months and days
constexpr std::string_view kInDates =
    "0123456789 /-MTWFSJAONDacehopru";  // and second characters of dates
constexpr std::string_view kInIso = "-.";
constexpr std::string_view kInNumbers = "0123456789.";
constexpr std::string_view kNever = "\n";  // stands in no line: not by its front or its digits
constexpr std::string_view kAny = {};
constexpr std::string_view kFrames =
    "[(<|=-*#~ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

// Rows are tried in this order: a special format stands before a general one that would accept its
// lines too.
constexpr std::array kFormats{
    StampFormat{"mllog", ":", ":", kAny, mllog},
    StampFormat{"condor", "0", kDigits, " ", condor},
    StampFormat{"python", "12", kDigits, kInIso, python},
    StampFormat{"ascend", "[12E", kAny, kAny, ascend},
    StampFormat{"syslog_iso", "12", kDigits, kInIso, syslog_iso},
    StampFormat{"iso", "12", kDigits, kInIso, iso},
    StampFormat{"bracket_iso", "[(", kDigits, kInIso, bracket_iso},
    StampFormat{"nemo", "[", kLetters, kAny, nemo},
    StampFormat{"glog", "[IWEFDVC", "0123456789IWEFDVC", kNever, glog},
    StampFormat{"tornado", "[", "IWEFDVC", kAny, tornado},
    StampFormat{"month_day", "[01TDINWECFS", kDigitsUppers, "-", month_day},
    StampFormat{"bracket_month_day", "[", kDigits, " ", bracket_month_day},
    StampFormat{"tagged_iso", "[TDINWECFtdinwecf", kAny, kAny, tagged_iso},
    StampFormat{"bracket_epoch", "[", kInNumbers, ".]eE", bracket_epoch},
    StampFormat{"epoch", "12", kInNumbers, ". \teE", epoch},
    StampFormat{"labelled_epoch", "-ABCDEFGHIJKLMNOPQRSTUVWXYZ", " _-ABCDEFGHIJKLMNOPQRSTUVWXYZ",
                kAny, labelled_epoch},
    StampFormat{"six_digits", "012", kDigits, " ", six_digits},
    StampFormat{"us_slash", kDigits, "0123456789/", "/", us_slash},
    StampFormat{"year_last", "0123", kDigits, ".-", year_last},
    StampFormat{"slash", kDigits, kDigits, "/", slash},
    StampFormat{"month_slash", "01", kDigits, "/", month_slash},
    StampFormat{"bracket_slash", "[", kDigits, "/", bracket_slash},
    StampFormat{"iso_basic", "12", kDigits, "T -_", iso_basic},
    StampFormat{"clock", "[012", "0123456789:", ":", clock_only},
    StampFormat{"one_ccl", "12", kDigits, ":", one_ccl},
    StampFormat{"ctime", "[MTWFS", "MTWFSaehoru", kAny, ctime_like},
    StampFormat{"date_in_words", "[0123456789MTWFSJAOND", kInDates, " /-.", date_in_words},
    StampFormat{"syslog", "JFMASOND", kInNames, kAny, syslog},
    StampFormat{"syslog_priority", "<", kDigits, kAny, syslog_priority},
    StampFormat{"uptime", "[", " \t+0123456789", ".", uptime},
    StampFormat{"dmesg_minute", "[", "JFMASOND", kAny, dmesg_minute},
    StampFormat{"kmsg", kDigits, "0123456789,", ",", kmsg},
    StampFormat{"dmesg_decoded", "kusdalnmf", kAny, kAny, dmesg_decoded},
    StampFormat{"access_log", "123456789", kAny, kAny, access_log},
    StampFormat{"keyed", "{t", "\"'is", kAny, keyed},
    StampFormat{"framed", kFrames, kAny, kAny, framed},
    StampFormat{"spoken", kNever, kAny, kAny, spoken},
};
static_assert(kFormats.size() <= kStampFormatsMax);

/// The rows that allow a character at one position, for each character.
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

std::uint64_t inner_rows() {
  static_assert(kFormats[kFormats.size() - 2].name == "framed");
  return std::uint64_t{3} << (kFormats.size() - 2);
}

std::size_t spoken_row() {
  static_assert(kFormats.back().name == "spoken");
  return kFormats.size() - 1;
}

std::uint64_t stamp_rows(std::string_view line) {
  if (line.size() < 2) return 0;
  const std::uint64_t rows = kByFirst[static_cast<unsigned char>(line[0])] &
                             kBySecond[static_cast<unsigned char>(line[1])];
  if (rows == 0) return 0;
  const std::size_t from = line[0] == '[' || line[0] == '(' ? 1 : 0;
  std::size_t at = from;
  while (at < line.size() && text::is_digit(line[at])) ++at;
  return at == from || at == line.size() ? rows
                                         : rows & kByBehind[static_cast<unsigned char>(line[at])];
}

}  // namespace l4::stamps
