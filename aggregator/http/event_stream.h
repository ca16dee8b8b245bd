// Server-sent events for one client: the queue between publishers and its connection. Flow: a
// publisher pushes events -> EventStream -> the server's thread writes them as they come. Bounds:
// `bytes_max` may wait; a client that reads more slowly is dropped, and `push` returns false. Any
// thread. `ring` runs under the lock of this stream: it must be quick and must not call the stream.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/mutex.h"

namespace l4::http {

/// `id:`, `event:` and `data:` lines of one event; `data` is one line.
std::string event_text(std::string_view id, std::string_view type, std::string_view data);

class EventStream {
 public:
  explicit EventStream(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  /// False if the stream is over, or if this text makes too many bytes wait, which ends the stream.
  bool push(std::string_view text);
  /// Waiting events are still sent, then the answer ends.
  void end();
  bool is_over() const;

  /// The connection sets `ring`, which is called when there is news; before it ends, it sets an
  /// empty one.
  void on_news(std::function<void()> ring);
  struct Taken {
    std::string text;
    bool over = false;  ///< nothing more comes
    bool cut = false;   ///< the client was too slow: waiting events are lost
  };
  Taken take();

 private:
  mutable Mutex mutex_;
  const std::size_t bytes_max_;
  std::string waiting_ L4_GUARDED_BY(mutex_);
  bool over_ L4_GUARDED_BY(mutex_) = false;
  bool cut_ L4_GUARDED_BY(mutex_) = false;
  std::function<void()> ring_ L4_GUARDED_BY(mutex_);
};

/// The bytes that a connection writes for a stream: head, events, heartbeats, end.
class EventWriter {
 public:
  /// `version`: that of the request, 10 or 11.
  EventWriter(std::shared_ptr<EventStream> stream, unsigned version)
      : stream_(std::move(stream)), version_(version) {}
  ~EventWriter();
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  std::string head(std::string_view content_type, std::function<void()> ring);
  /// The next bytes for the wire, with the end of the answer once the stream is over.
  EventStream::Taken next();
  std::string heartbeat() const { return chunk(":\n\n"); }

 private:
  std::string chunk(std::string text) const;

  std::shared_ptr<EventStream> stream_;
  unsigned version_;
};

}  // namespace l4::http
