#include "agent/decode/timestamp_formats.h"

#include <array>

#include "agent/decode/stamp_scanners.h"

namespace l4::decode {
namespace {

constexpr std::string_view kDigits = "0123456789";

// In this order: a row that is more special stands before one that would take its lines too.
constexpr std::array kFormats{
    StampFormat{"mllog", ":", stamps::mllog},
    StampFormat{"python", "12", stamps::python},
    StampFormat{"ascend", "[12", stamps::ascend},
    StampFormat{"syslog_iso", "12", stamps::syslog_iso},
    StampFormat{"iso", "12", stamps::iso},
    StampFormat{"bracket_iso", "[(", stamps::bracket_iso},
    StampFormat{"nemo", "[", stamps::nemo},
    StampFormat{"glog", "[IWEFDVC", stamps::glog},
    StampFormat{"tornado", "[", stamps::tornado},
    StampFormat{"month_day", "[01TDINWECFS", stamps::month_day},
    StampFormat{"tagged_iso", "[TDINWECFtdinwecf", stamps::tagged_iso},
    StampFormat{"bracket_epoch", "[", stamps::bracket_epoch},
    StampFormat{"epoch", "12", stamps::epoch},
    StampFormat{"us_slash", kDigits, stamps::us_slash},
    StampFormat{"slash", kDigits, stamps::slash},
    StampFormat{"bracket_slash", "[", stamps::bracket_slash},
    StampFormat{"iso_basic", "12", stamps::iso_basic},
    StampFormat{"clock", "[012", stamps::clock_only},
    StampFormat{"one_ccl", "12", stamps::one_ccl},
    StampFormat{"ctime", "[MTWFS", stamps::ctime_like},
    StampFormat{"date_in_words", "[0123456789MTWFSJAOND", stamps::date_in_words},
    StampFormat{"syslog", "JFMASOND", stamps::syslog},
    StampFormat{"syslog_priority", "<", stamps::syslog_priority},
    StampFormat{"uptime", "[", stamps::uptime},
    StampFormat{"kmsg", kDigits, stamps::kmsg},
    StampFormat{"dmesg_decoded", "kusdalnmf", stamps::dmesg_decoded},
    StampFormat{"access_log", "123456789", stamps::access_log},
    StampFormat{"keyed", "{t", stamps::keyed},
    StampFormat{"spoken", "[sSER", stamps::spoken},
};
static_assert(kFormats.size() <= kStampFormatsMax);

}  // namespace

std::span<const StampFormat> stamp_formats() {
  return kFormats;
}

}  // namespace l4::decode
