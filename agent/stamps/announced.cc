#include "agent/stamps/announced.h"

#include <array>

#include "agent/text/rows_by_first.h"
#include "agent/text/scan.h"

namespace l4::stamps {
namespace {

struct AnnouncingWord {
  std::string_view text;
  Announcing kind = Announcing::thing;
};

/// Words, in lower case, that stand before a time and say nothing else.
constexpr std::array kAnnouncing{
    AnnouncingWord{"aborted"},
    AnnouncingWord{"at", Announcing::link},
    AnnouncingWord{"began"},
    AnnouncingWord{"begin"},
    AnnouncingWord{"completed"},
    AnnouncingWord{"created", Announcing::link},
    AnnouncingWord{"current", Announcing::link},
    AnnouncingWord{"date"},
    AnnouncingWord{"datetime"},
    AnnouncingWord{"done"},
    AnnouncingWord{"end"},
    AnnouncingWord{"ended"},
    AnnouncingWord{"ending"},
    AnnouncingWord{"finish"},
    AnnouncingWord{"finished"},
    AnnouncingWord{"is", Announcing::link},
    AnnouncingWord{"job", Announcing::link},
    AnnouncingWord{"local", Announcing::link},
    AnnouncingWord{"now"},
    AnnouncingWord{"on", Announcing::link},
    AnnouncingWord{"start"},
    AnnouncingWord{"started"},
    AnnouncingWord{"starting"},
    AnnouncingWord{"stop"},
    AnnouncingWord{"stopped"},
    AnnouncingWord{"submitted"},
    AnnouncingWord{"terminated"},
    AnnouncingWord{"the", Announcing::link},
    AnnouncingWord{"time"},
    AnnouncingWord{"timestamp"},
    AnnouncingWord{"training", Announcing::link},
};

}  // namespace

Announcing announcing(std::string_view word) {
  static constexpr text::RowsByFirst kByFirst{kAnnouncing, &AnnouncingWord::text};
  if (word.empty()) return Announcing::none;
  for (const AnnouncingWord& known : kByFirst.of(text::lower(word[0])))
    if (text::equals_lower(word, known.text)) return known.kind;
  return Announcing::none;
}

bool scan_dated(std::string_view rest, bool epoch, RawStamp& stamp) {
  const auto formats = stamp_formats();
  for (std::uint64_t rows = stamp_rows(rest) & ~inner_rows(); rows != 0; rows &= rows - 1) {
    const StampFormat& format = formats[static_cast<std::size_t>(__builtin_ctzll(rows))];
    RawStamp inner;
    if (!format.scan(rest, inner)) continue;
    if (inner.timeless || inner.clock_only || inner.cut_from == inner.cut_to) continue;
    if (inner.epoch_ms ? !epoch : inner.civil.year == 0 || !inner.civil.valid()) continue;
    stamp = inner;
    return true;
  }
  return false;
}

}  // namespace l4::stamps
