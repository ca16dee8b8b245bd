#include "tools/l4/ask/event_reader.h"

#include <cstddef>

namespace l4::ask {
namespace {

constexpr std::size_t kEventMax = 1 << 20;

}  // namespace

void EventReader::begin() {
  line_.clear();
  event_ = {};
  is_too_long_ = false;
}

std::vector<StreamedEvent> EventReader::feed(std::string_view piece) {
  std::vector<StreamedEvent> events;
  for (const char c : piece) {
    if (c == '\n') {
      if (line_.ends_with('\r')) line_.pop_back();
      ingest_line(line_, events);
      line_.clear();
    } else if (line_.size() + event_.data.size() < kEventMax) {
      line_ += c;
    } else {
      is_too_long_ = true;
    }
  }
  return events;
}

void EventReader::ingest_line(std::string_view line, std::vector<StreamedEvent>& out) {
  if (line.empty()) {
    if (!event_.data.empty() && !is_too_long_) out.push_back(event_);
    if (!event_.id.empty()) last_id_ = event_.id;
    event_ = {};
    is_too_long_ = false;
    return;
  }
  const std::size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "id") event_.id = value;
  if (field == "event") event_.type = value;
  if (field != "data") return;
  if (!event_.data.empty()) event_.data += '\n';
  event_.data += value;
}

}  // namespace l4::ask
