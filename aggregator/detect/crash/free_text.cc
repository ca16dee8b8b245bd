#include "aggregator/detect/crash/free_text.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "aggregator/detect/evidence/letters.h"
#include "aggregator/job/stream.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/crash.h"

namespace l4::detect::crash {
namespace {

/// Lines of one stream that only sound like a failure, each text once.
struct Sounding {
  double survived = 0, last = 0;  ///< before and at the end
  std::uint32_t prose = 0;        ///< of all of them
};

/// Words of every text in English, which few lines of programs have several of.
constexpr auto kLittleWords = std::to_array<std::string_view>(
    {"the", "is",    "are",     "was",   "were", "be",    "that",  "this", "then",
     "so",  "and",   "but",     "or",    "we",   "he",    "she",   "they", "it",
     "you", "his",   "her",     "their", "of",   "to",    "in",    "from", "if",
     "as",  "which", "because", "while", "when", "there", "would", "will", "a"});

/// Last line that surely was not the end.
double end_of_progress(const job::Stream& stream) {
  return stream.last_completed ? static_cast<double>(stream.last_completed_line)
                               : numbers::crash().free_end * static_cast<double>(stream.last_line);
}

bool is_free_text(const job::Stream& stream, const Sounding& sounding) {
  const double before = end_of_progress(stream);
  if (sounding.survived < numbers::crash().free_survived_min || before < 1) return false;
  const double behind = static_cast<double>(stream.last_line) - before;
  const double expected = sounding.survived * behind / before;
  return sounding.last == 0 ||
         (expected >= numbers::crash().free_expected_min && sounding.last <= 2 * expected + 1);
}

/// Letters alone, but for an apostrophe inside and signs at its ends.
bool is_plain(std::string_view word) {
  constexpr std::string_view kSigns = ".,;:!?()\"'";
  while (!word.empty() && kSigns.contains(word.front())) word.remove_prefix(1);
  while (!word.empty() && kSigns.contains(word.back())) word.remove_suffix(1);
  return !word.empty() && std::ranges::all_of(word, [](char c) {
    return is_letter(c) || c == '\'' || static_cast<unsigned char>(c) >= 0x80;
  });
}

}  // namespace

bool is_prose(std::string_view text) {
  std::size_t words = 0, plain = 0, little = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = std::min(text.find(' ', i), text.size());
    const std::string_view word = text.substr(i, end - i);
    i = end + 1;
    if (word.empty()) continue;
    ++words;
    plain += is_plain(word) ? 1 : 0;
    little += equals_one_of(word, kLittleWords) ? 1 : 0;
  }
  return words >= numbers::crash().prose_words_min && little >= numbers::crash().prose_little_min &&
         plain * 100 >= words * numbers::crash().prose_plain_percent;
}

std::vector<FreeText> find_free_text(const job::JobView& view,
                                     const std::vector<EventHint>& hints) {
  std::vector<Sounding> soundings(view.streams.size());
  for (std::size_t i = 0; i < view.events.size(); ++i) {
    if (!hints[i].by_words || hints[i].severity < Severity::failure) continue;
    const bool prose = is_prose(view.events[i].text);
    for (const job::Occurrence& at : view.events[i].at) {
      const job::Stream& stream = *view.streams[at.stream].state;
      Sounding& sounding = soundings[at.stream];
      const bool early = static_cast<double>(at.first_line) <= end_of_progress(stream);
      ++(early ? sounding.survived : sounding.last);
      sounding.prose += prose ? 1 : 0;
    }
  }
  std::vector<FreeText> free(view.streams.size(), FreeText::none);
  for (std::size_t i = 0; i < free.size(); ++i) {
    if (soundings[i].prose >= numbers::crash().prose_lines_min) free[i] = FreeText::prose;
    if (is_free_text(*view.streams[i].state, soundings[i])) free[i] = FreeText::all;
  }
  return free;
}

}  // namespace l4::detect::crash
