#include "aggregator/flows/decode/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "aggregator/flows/decode/numbers.h"

namespace l4::flows::decode {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

/// Removes the next field from the front. Quotes around it are taken off; nothing we read holds a
/// comma or a quote within them.
std::string_view next_field(std::string_view& rest) {
  const std::size_t comma = std::min(rest.find(','), rest.size());
  std::string_view field = trimmed(rest.substr(0, comma));
  rest.remove_prefix(std::min(comma + 1, rest.size()));
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
    field = field.substr(1, field.size() - 2);
  return field;
}

}  // namespace

constexpr std::array<std::string_view, CsvReader::kColumns> CsvReader::kNames{
    "start_ns", "end_ns", "src",     "dst",      "src_port", "dst_port",
    "proto",    "bytes",  "packets", "exporter", "sequence"};

Result<void> CsvReader::feed(std::string_view bytes, const Sink& sink) {
  while (!bytes.empty()) {
    const std::size_t feed = bytes.find('\n');
    if (feed == std::string_view::npos) {
      too_long_ = too_long_ || rest_.size() + bytes.size() > kLineMax;
      if (too_long_)
        rest_.clear();
      else
        rest_.append(bytes);
      return {};
    }
    std::string_view text = bytes.substr(0, feed);
    if (!rest_.empty()) text = rest_.append(text);
    bytes.remove_prefix(feed + 1);
    if (const auto done = line(text, sink); !done) return done;
    rest_.clear();
    too_long_ = false;
  }
  return {};
}

Result<void> CsvReader::finish(const Sink& sink) {
  if (!rest_.empty() || too_long_)
    if (const auto done = line(rest_, sink); !done) return done;
  if (columns_.empty()) return std::unexpected(Error{file_, "is empty; a header was expected"});
  return {};
}

Result<void> CsvReader::line(std::string_view text, const Sink& sink) {
  ++line_;
  if (too_long_ || text.size() > kLineMax) {
    counts_.complain(fmt::format("{}:{}", file_, line_), "the line is longer than 64 KiB");
    return {};
  }
  text = trimmed(text);
  if (text.empty()) return {};
  if (columns_.empty()) return header(text);
  row(text, sink);
  return {};
}

Result<void> CsvReader::header(std::string_view text) {
  for (std::string_view rest = text; !rest.empty();) {
    const auto name = std::ranges::find(kNames, next_field(rest));
    columns_.push_back(static_cast<Column>(name - kNames.begin() == kColumns
                                               ? int{kSkipped}
                                               : static_cast<int>(name - kNames.begin())));
  }
  for (const Column needed : {kStart, kEnd, kSrc, kDst, kBytes})
    if (std::ranges::find(columns_, needed) == columns_.end())
      return std::unexpected(Error{fmt::format("{}:{}", file_, line_),
                                   fmt::format("the header has no column {}", kNames[needed])});
  return {};
}

bool CsvReader::read_field(Column column, std::string_view value, FlowRecord& record) {
  const auto address = [&](Address& to) {
    const auto read = parse_address(value);
    if (read) to = *read;
    return read.has_value();
  };
  switch (column) {
    case kStart:
      return read_number(value, record.start);
    case kEnd:
      return read_number(value, record.end);
    case kSrc:
      return address(record.src);
    case kDst:
      return address(record.dst);
    case kSrcPort:
      return read_number(value, record.src_port);
    case kDstPort:
      return read_number(value, record.dst_port);
    case kProto:
      return read_number(value, record.protocol);
    case kBytes:
      return read_number(value, record.bytes);
    case kPackets:
      return read_number(value, record.packets);
    case kExporter:
      record.exporter = names_->number(value);
      return true;
    case kSequence:
      record.has_sequence = !value.empty();
      return value.empty() || read_number(value, record.sequence);
    case kColumns:
    case kSkipped:
      break;
  }
  return true;
}

void CsvReader::row(std::string_view text, const Sink& sink) {
  FlowRecord record;
  std::size_t fields = 0;
  bool is_last = false;
  for (std::string_view rest = text; fields < columns_.size() && !is_last; ++fields) {
    is_last = rest.find(',') == std::string_view::npos;
    const std::string_view value = next_field(rest);
    const Column column = columns_[fields];
    if (!read_field(column, value, record)) return refuse(kNames[column], value, "cannot be read");
  }
  if (fields < columns_.size())
    return counts_.complain(fmt::format("{}:{}", file_, line_),
                            fmt::format("{} of {} columns", fields, columns_.size()));
  if (const auto why = why_unusable(record); !why.empty()) return refuse("end_ns", "", why);
  ++counts_.records;
  sink(record);
}

void CsvReader::refuse(std::string_view column, std::string_view value, std::string_view reason) {
  constexpr std::size_t kShown = 40;
  counts_.complain(fmt::format("{}:{}, column {}", file_, line_, column),
                   value.empty() ? std::string(reason)
                                 : fmt::format("'{}' {}", value.substr(0, kShown), reason));
}

}  // namespace l4::flows::decode
