#include "agent/ship/queue.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"

namespace l4::ship {

Queue::Queue(const QueueOptions& options)
    : options_(options), spool_(options.spool, options.spool_bytes_max) {}

bool Queue::has_room(std::size_t bytes) const {
  if (held_.size() >= options_.batches_max) return false;
  if (held_.empty() || memory_bytes_ + bytes <= options_.memory_bytes_max) return true;
  return disk_error_.empty() && spool_.fits(bytes);
}

void Queue::push(Held held) {
  held.bytes = held.encoded.size();
  const bool first = held_.empty();
  held_.push_back(std::move(held));
  memory_bytes_ += held_.back().bytes;
  if (!first && memory_bytes_ > options_.memory_bytes_max) spool_last();
}

void Queue::spool_last() {
  Held& last = held_.back();
  const auto extent = spool_.append(last.encoded);
  disk_error_ = extent ? std::string() : extent.error().text();
  if (!extent) return;
  last.spooled = *extent;
  last.encoded = {};
  memory_bytes_ -= last.bytes;
}

void Queue::retry_disk() {
  if (disk_error_.empty()) return;
  if (held_.empty() || held_.back().spooled)
    disk_error_.clear();
  else
    spool_last();
}

Result<wire::Bytes> Queue::load(std::size_t i) const {
  L4_CHECK(i < held_.size(), "batch {} of {}", i, held_.size());
  const Held& held = held_[i];
  if (held.spooled) return spool_.read(*held.spooled);
  return held.encoded;
}

void Queue::replace(std::size_t i, wire::Bytes encoded) {
  L4_CHECK(i < held_.size(), "batch {} of {}", i, held_.size());
  Held& held = held_[i];
  if (held.spooled)
    spool_.release(*held.spooled);
  else
    memory_bytes_ -= held.bytes;
  held.replaced = true;
  held.spooled.reset();
  held.bytes = encoded.size();
  held.encoded = std::move(encoded);
  memory_bytes_ += held.bytes;
}

Held Queue::pop_front() {
  L4_CHECK(!held_.empty(), "the queue is empty");
  Held held = std::move(held_.front());
  held_.pop_front();
  if (held.spooled)
    spool_.release(*held.spooled);
  else
    memory_bytes_ -= held.bytes;
  return held;
}

void Queue::clear() {
  held_.clear();
  spool_.clear();
  memory_bytes_ = 0;
}

double Queue::fill() const {
  const std::size_t room =
      options_.memory_bytes_max + (disk_error_.empty() ? spool_.bytes_max() : 0);
  const double by_bytes =
      static_cast<double>(bytes()) / static_cast<double>(std::max<std::size_t>(room, 1));
  const double by_number = static_cast<double>(held_.size()) /
                           static_cast<double>(std::max<std::size_t>(options_.batches_max, 1));
  return std::min(1.0, std::max(by_bytes, by_number));
}

}  // namespace l4::ship
