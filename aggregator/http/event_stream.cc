#include "aggregator/http/event_stream.h"

#include <fmt/format.h>

#include <utility>

namespace l4::http {

std::string event_text(std::string_view id, std::string_view type, std::string_view data) {
  return fmt::format("id: {}\nevent: {}\ndata: {}\n\n", id, type, data);
}

bool EventStream::push(std::string_view text) {
  const MutexLock lock(mutex_);
  if (over_) return false;
  if (waiting_.size() + text.size() > bytes_max_) {
    over_ = cut_ = true;
    waiting_.clear();
  } else {
    waiting_ += text;
  }
  if (ring_) ring_();
  return !cut_;
}

void EventStream::end() {
  const MutexLock lock(mutex_);
  if (std::exchange(over_, true)) return;
  if (ring_) ring_();
}

bool EventStream::is_over() const {
  const MutexLock lock(mutex_);
  return over_;
}

void EventStream::on_news(std::function<void()> ring) {
  const MutexLock lock(mutex_);
  ring_ = std::move(ring);
}

EventStream::Taken EventStream::take() {
  const MutexLock lock(mutex_);
  return {std::exchange(waiting_, {}), over_, cut_};
}

EventWriter::~EventWriter() {
  stream_->on_news(nullptr);
  stream_->end();
}

std::string EventWriter::head(std::string_view content_type, std::function<void()> ring) {
  stream_->on_news(std::move(ring));
  return fmt::format(
      "HTTP/1.{} 200 OK\r\nServer: l4-aggregator\r\nContent-Type: {}\r\nCache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\nX-Accel-Buffering: no\r\n{}Connection: close\r\n\r\n",
      version_ >= 11 ? 1 : 0, content_type, version_ >= 11 ? "Transfer-Encoding: chunked\r\n" : "");
}

EventStream::Taken EventWriter::next() {
  EventStream::Taken taken = stream_->take();
  if (!taken.text.empty()) taken.text = chunk(std::move(taken.text));
  if (taken.over && version_ >= 11) taken.text += "0\r\n\r\n";
  return taken;
}

/// HTTP/1.0 has no chunks: the answer ends with the connection.
std::string EventWriter::chunk(std::string text) const {
  return version_ < 11 ? text : fmt::format("{:x}\r\n{}\r\n", text.size(), text);
}

}  // namespace l4::http
