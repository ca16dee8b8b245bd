#include "aggregator/flows/decode/export_packets.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "common/base/hash.h"

namespace l4::flows::decode {
namespace {

// Information elements (IANA, "IPFIX Information Elements").
enum Element : std::uint16_t {
  kOctets = 1,
  kPackets = 2,
  kProtocol = 4,
  kSourcePort = 7,
  kSource4 = 8,
  kDestinationPort = 11,
  kDestination4 = 12,
  kLastUptime = 21,
  kFirstUptime = 22,
  kSource6 = 27,
  kDestination6 = 28,
  kSamplingInterval = 34,
  kActiveTimeout = 36,
  kInactiveTimeout = 37,
  kSamplerInterval = 50,
  kOctetsTotal = 85,
  kPacketsTotal = 86,
  kStartSeconds = 150,
  kEndSeconds = 151,
  kStartMillis = 152,
  kEndMillis = 153,
  kStartMicros = 154,
  kEndMicros = 155,
  kStartNanos = 156,
  kEndNanos = 157,
  kPacketInterval = 305,
};

constexpr std::uint16_t kIpfix = 10, kNetflow9 = 9, kFirstData = 256, kVariable = 0xffff;
constexpr TimeNs kTimeMax = TimeNs{1} << 62;

/// A time of so many units; zero if it cannot be told in nanoseconds.
TimeNs scaled(std::uint64_t value, TimeNs unit) {
  return value > static_cast<std::uint64_t>(kTimeMax / unit) ? 0
                                                             : static_cast<TimeNs>(value) * unit;
}

/// Seconds since 1900 and their fraction in 32 bits each (RFC 7011, 6.1.9).
TimeNs from_ntp(std::uint64_t value) {
  constexpr std::uint64_t kTo1970 = 2'208'988'800;
  const std::uint64_t seconds = value >> 32;
  if (seconds < kTo1970) return 0;
  return static_cast<TimeNs>(seconds - kTo1970) * kSecond +
         static_cast<TimeNs>(((value & 0xffff'ffff) * static_cast<std::uint64_t>(kSecond)) >> 32);
}

Address address_of(std::string_view bytes) {
  Address address;
  for (std::size_t i = 0; i < 8; ++i)
    address.high = address.high << 8 | static_cast<std::uint8_t>(bytes[i]);
  for (std::size_t i = 8; i < 16; ++i)
    address.low = address.low << 8 | static_cast<std::uint8_t>(bytes[i]);
  return address;
}

template <class Word>
std::uint64_t big_endian(const char* at) {
  return std::byteswap(static_cast<Word>(hashing::load<Word>(at)));
}

/// Values of one record, as far as it has them.
struct Values {
  FlowRecord record;
  bool has_src = false, has_dst = false, has_start = false, has_end = false;
  ExporterSettings told{0, 0, 0, false};
};

void put_time(Values& values, bool is_start, TimeNs time) {
  (is_start ? values.record.start : values.record.end) = time;
  (is_start ? values.has_start : values.has_end) = time > 0;
}

void put_settings(std::uint16_t id, std::uint64_t value, ExporterSettings& told) {
  constexpr std::uint64_t kMost = 1 << 24;
  const auto bounded = static_cast<std::uint32_t>(std::min(value, kMost));
  if (id == kActiveTimeout)
    told.active = TimeNs{bounded} * kSecond;
  else if (id == kInactiveTimeout)
    told.inactive = TimeNs{bounded} * kSecond;
  else
    told.sampling = bounded;
}

void put_number(std::uint16_t id, std::uint64_t value, TimeNs boot, Values& values) {
  FlowRecord& record = values.record;
  switch (id) {
    case kOctets:
    case kOctetsTotal:
      record.bytes = value;
      return;
    case kPackets:
    case kPacketsTotal:
      record.packets = value;
      return;
    case kProtocol:
      record.protocol = static_cast<std::uint8_t>(value);
      return;
    case kSourcePort:
      record.src_port = static_cast<std::uint16_t>(value);
      return;
    case kDestinationPort:
      record.dst_port = static_cast<std::uint16_t>(value);
      return;
    case kSource4:
      record.src = Address::of_ipv4(static_cast<std::uint32_t>(value));
      values.has_src = true;
      return;
    case kDestination4:
      record.dst = Address::of_ipv4(static_cast<std::uint32_t>(value));
      values.has_dst = true;
      return;
    case kStartSeconds:
    case kEndSeconds:
      return put_time(values, id == kStartSeconds, scaled(value, kSecond));
    case kStartMillis:
    case kEndMillis:
      return put_time(values, id == kStartMillis, scaled(value, kMillisecond));
    case kStartMicros:
    case kStartNanos:
    case kEndMicros:
    case kEndNanos:
      return put_time(values, id == kStartMicros || id == kStartNanos, from_ntp(value));
    case kFirstUptime:
    case kLastUptime:
      if (boot > 0) put_time(values, id == kFirstUptime, boot + scaled(value, kMillisecond));
      return;
    case kActiveTimeout:
    case kInactiveTimeout:
    case kSamplingInterval:
    case kSamplerInterval:
    case kPacketInterval:
      return put_settings(id, value, values.told);
    default:
      return;
  }
}

}  // namespace

std::optional<std::string_view> Bytes::take(std::size_t bytes) {
  if (bytes > rest_.size()) return std::nullopt;
  const std::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return taken;
}

std::optional<std::uint64_t> Bytes::number(std::size_t bytes) {
  if (bytes > 8) return std::nullopt;
  const auto taken = take(bytes);
  if (!taken) return std::nullopt;
  std::uint64_t value = 0;
  for (const char byte : *taken) value = value << 8 | static_cast<std::uint8_t>(byte);
  return value;
}

void ExportDecoder::complain(const Message& message, std::string reason) {
  counts_.complain(*message.where, std::move(reason));
}

bool ExportDecoder::header(Bytes& bytes, Message& message, std::size_t size) {
  constexpr std::size_t kIpfixHeader = 16, kNetflowHeader = 20;
  const std::uint64_t version = bytes.number(2).value_or(0);
  message.is_v9 = version == kNetflow9;
  if (version != kIpfix && version != kNetflow9) {
    complain(message, fmt::format("version {} is neither IPFIX nor NetFlow v9", version));
    return false;
  }
  if (size < (message.is_v9 ? kNetflowHeader : kIpfixHeader)) {
    complain(message, fmt::format("{} bytes are less than a header", size));
    return false;
  }
  const std::uint64_t length = *bytes.number(2);  // NetFlow v9: the number of its records
  if (!message.is_v9 && length != size) {
    complain(message, fmt::format("the header says {} bytes, and {} are there", length, size));
    return false;
  }
  const std::uint64_t uptime = message.is_v9 ? *bytes.number(4) : 0;
  const std::uint64_t seconds = *bytes.number(4);
  message.sequence = *bytes.number(4);
  message.domain = static_cast<std::uint32_t>(*bytes.number(4));
  message.exporter = names_->number(fmt::format("{}/{}", *message.source, message.domain));
  if (!message.is_v9) return true;
  message.boot = scaled(seconds, kSecond) - scaled(uptime, kMillisecond);
  Counted& counted = v9_[message.exporter];
  // A packet that is missing held records; how many is not known, so one stands for them.
  if (counted.seen && message.sequence > counted.packets)
    counted.records += message.sequence - counted.packets;
  counted.packets = message.sequence + 1;
  counted.seen = true;
  message.sequence = counted.records;
  return true;
}

void ExportDecoder::message(std::string_view bytes, const std::string& source,
                            const std::string& where, const Sink& sink) {
  constexpr std::size_t kSetHeader = 4;
  Message message;
  message.source = &source;
  message.where = &where;
  Bytes rest(bytes);
  if (!header(rest, message, bytes.size())) return;
  while (rest.size() >= kSetHeader) {
    const auto id = static_cast<std::uint16_t>(*rest.number(2));
    const std::uint64_t length = *rest.number(2);
    const auto body = length < kSetHeader ? std::nullopt : rest.take(length - kSetHeader);
    if (!body) {
      complain(message, fmt::format("a set of {} bytes where {} are left", length,
                                    rest.size() + kSetHeader));
      break;
    }
    set(id, Bytes(*body), message, sink);
  }
  if (message.is_v9) v9_[message.exporter].records = message.sequence;
}

void ExportDecoder::set(std::uint16_t id, Bytes body, Message& message, const Sink& sink) {
  constexpr std::uint16_t kTemplate = 2, kOptions = 3, kTemplate9 = 0, kOptions9 = 1;
  if (id == (message.is_v9 ? kTemplate9 : kTemplate)) return templates(body, message, false);
  if (id == (message.is_v9 ? kOptions9 : kOptions)) return templates(body, message, true);
  if (id < kFirstData) return complain(message, fmt::format("a set of the unknown kind {}", id));
  const auto form = templates_.find({message.exporter, message.domain, id});
  if (form == templates_.end()) {
    ++counts_.unknown;
    return;
  }
  data(form->second, body, message, sink);
}

bool ExportDecoder::template_fields(Bytes& body, std::size_t count, const Message& message,
                                    Template& made) {
  constexpr std::uint16_t kEnterprise = 0x8000;
  for (std::size_t i = 0; i < count; ++i) {
    const auto id = body.number(2), length = body.number(2);
    if (!id || !length) return false;
    Field field{static_cast<std::uint16_t>(*id), static_cast<std::uint16_t>(*length), 0};
    if (!message.is_v9 && (field.id & kEnterprise) != 0) {
      const auto enterprise = body.number(4);
      if (!enterprise) return false;
      field.id = static_cast<std::uint16_t>(field.id & ~kEnterprise);
      field.enterprise = static_cast<std::uint32_t>(*enterprise) + 1;
    }
    made.bytes_min += field.length == kVariable ? 1 : field.length;
    if (made.fields.size() < kFieldsMax) made.fields.push_back(field);
  }
  return made.bytes_min > 0;
}

/// Where the values are, if the template is the usual one: each of nine elements once, IPv4, times
/// in milliseconds.
std::optional<ExportDecoder::Plain> ExportDecoder::plain_form(const Template& form) {
  Plain plain;
  std::size_t at = 0, known = 0;
  for (const Field& field : form.fields) {
    const auto place = [&](std::size_t& to, std::size_t bytes) {
      if (field.length == bytes) ++known;
      to = at;
    };
    if (field.length == kVariable || field.enterprise != 0) return std::nullopt;
    switch (field.id) {
      case kSource4:
        place(plain.src, 4);
        break;
      case kDestination4:
        place(plain.dst, 4);
        break;
      case kSourcePort:
        place(plain.src_port, 2);
        break;
      case kDestinationPort:
        place(plain.dst_port, 2);
        break;
      case kProtocol:
        place(plain.protocol, 1);
        break;
      case kOctets:
        place(plain.bytes, 8);
        break;
      case kPackets:
        place(plain.packets, 8);
        break;
      case kStartMillis:
        place(plain.start, 8);
        break;
      case kEndMillis:
        place(plain.end, 8);
        break;
      default:
        return std::nullopt;
    }
    at += field.length;
  }
  if (form.is_options || known != 9 || form.fields.size() != 9) return std::nullopt;
  return plain;
}

void ExportDecoder::plain_record(const Plain& plain, const char* at, Message& message,
                                 const Sink& sink) {
  FlowRecord record;
  const auto time = [&](std::size_t place) {
    return scaled(big_endian<std::uint64_t>(at + place), kMillisecond);
  };
  record.start = time(plain.start);
  record.end = time(plain.end);
  record.src =
      Address::of_ipv4(static_cast<std::uint32_t>(big_endian<std::uint32_t>(at + plain.src)));
  record.dst =
      Address::of_ipv4(static_cast<std::uint32_t>(big_endian<std::uint32_t>(at + plain.dst)));
  record.src_port = static_cast<std::uint16_t>(big_endian<std::uint16_t>(at + plain.src_port));
  record.dst_port = static_cast<std::uint16_t>(big_endian<std::uint16_t>(at + plain.dst_port));
  record.protocol = static_cast<std::uint8_t>(at[plain.protocol]);
  record.bytes = big_endian<std::uint64_t>(at + plain.bytes);
  record.packets = big_endian<std::uint64_t>(at + plain.packets);
  hand_over(record, record.start > 0 && record.end > 0, message, sink);
}

void ExportDecoder::hand_over(FlowRecord& record, bool has_all, Message& message,
                              const Sink& sink) {
  constexpr std::uint64_t kCountMax = std::uint64_t{1} << 40;  // the product stays in range
  const std::uint64_t scale = std::max<std::uint32_t>(1, announced_.sampling);
  record.bytes = std::min(record.bytes, kCountMax) * scale;
  record.packets = std::min(record.packets, kCountMax) * scale;
  record.exporter = message.exporter;
  record.sequence = message.sequence++;
  record.has_sequence = message.exporter != kNone;
  if (!has_all)
    complain(message, "a record without addresses or times");
  else if (const auto why = why_unusable(record); !why.empty())
    complain(message, std::string(why));
  else {
    ++counts_.records;
    sink(record);
  }
}

void ExportDecoder::templates(Bytes body, Message& message, bool is_options) {
  constexpr std::size_t kHeader = 4, kFieldBytes = 4;
  while (body.size() >= kHeader) {
    const auto id = static_cast<std::uint16_t>(*body.number(2));
    std::uint64_t count = *body.number(2);
    if (id < kFirstData) return;  // padding
    Template made;
    made.is_options = is_options;
    if (is_options) {
      const auto scopes = body.number(2);
      if (!scopes) return complain(message, "a template is cut short");
      // NetFlow v9 gives bytes of scope and option fields, IPFIX numbers of all and scope fields.
      if (message.is_v9) count = (count + *scopes) / kFieldBytes;
    }
    if (count == 0) {  // it is withdrawn
      templates_.erase({message.exporter, message.domain, id});
      continue;
    }
    if (count > kFieldsMax)
      return complain(message, fmt::format("template {} has {} fields", id, count));
    // Scope fields of NetFlow v9 are numbered apart from elements.
    if (!template_fields(body, count, message, made))
      return complain(message, fmt::format("template {} is cut short or empty", id));
    made.plain = plain_form(made);
    keep({message.exporter, message.domain, id}, std::move(made), message);
  }
}

void ExportDecoder::keep(const Key& key, Template made, const Message& message) {
  const auto at = templates_.find(key);
  if (at != templates_.end()) {
    at->second = std::move(made);
    return;
  }
  if (templates_.size() >= kTemplatesMax) return complain(message, "no room for another template");
  templates_.emplace(key, std::move(made));
}

void ExportDecoder::data(const Template& form, Bytes body, Message& message, const Sink& sink) {
  if (form.plain) {
    while (const auto record = body.take(form.bytes_min))
      plain_record(*form.plain, record->data(), message, sink);
    return;
  }
  while (body.size() >= form.bytes_min)
    if (!record(form, body, message, sink))
      return complain(message, "a record is longer than its set");
}

bool ExportDecoder::record(const Template& form, Bytes& body, Message& message, const Sink& sink) {
  constexpr std::uint64_t kLong = 255;
  Values values;
  for (const Field& field : form.fields) {
    std::uint64_t length = field.length;
    if (field.length == kVariable && !message.is_v9) {
      const auto brief = body.number(1);
      length = brief.value_or(0);
      if (brief == kLong) length = body.number(2).value_or(0);
    }
    const auto value = body.take(length);
    if (!value) return false;
    if (field.enterprise != 0) continue;
    if (length == 16 && (field.id == kSource6 || field.id == kDestination6)) {
      (field.id == kSource6 ? values.record.src : values.record.dst) = address_of(*value);
      (field.id == kSource6 ? values.has_src : values.has_dst) = true;
    } else if (const auto number = Bytes(*value).number(length)) {
      put_number(field.id, *number, message.boot, values);
    }
  }
  if (values.told.sampling > 0) announced_.sampling = values.told.sampling;
  if (values.told.active > 0) announced_.active = values.told.active;
  if (values.told.inactive > 0) announced_.inactive = values.told.inactive;
  if (form.is_options) {
    ++message.sequence;
    return true;
  }
  hand_over(values.record, values.has_src && values.has_dst && values.has_start && values.has_end,
            message, sink);
  return true;
}

}  // namespace l4::flows::decode
