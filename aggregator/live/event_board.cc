#include "aggregator/live/event_board.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "common/base/check.h"

namespace l4::live {
namespace {

constexpr std::string_view kBegin = "retry: 2000\n\n";  // ms until a browser asks again

}  // namespace

std::string EventBoard::id_of(std::uint64_t number) const {
  return fmt::format("{:016x}-{}", incarnation_, number);
}

void EventBoard::publish(std::string_view type, const std::string& job, std::string_view data) {
  const MutexLock lock(mutex_);
  if (ended_) return;
  std::string text = http::event_text(id_of(++last_), type, data);
  ring_bytes_ += text.size();
  for (const Follower& follower : followers_) {
    if (!follower.following.concerns(job)) continue;
    const auto stream = follower.stream.lock();
    if (!stream || stream->is_over()) continue;
    if (!stream->push(text)) ++dropped_;
  }
  forget_gone();
  ring_.push_back({job, std::move(text)});
  while (ring_.size() > options_.ring_max || ring_bytes_ > options_.ring_bytes_max) {
    L4_CHECK(!ring_.empty() && ring_bytes_ >= ring_.front().text.size(),
             "{} events of {} bytes in the ring", ring_.size(), ring_bytes_);
    ring_bytes_ -= ring_.front().text.size();
    ring_.pop_front();
  }
}

/// The events published since that id, and whether some of them are no longer kept.
std::string EventBoard::missed(const Following& following, std::string_view since) const {
  const std::string here = id_of(last_), own = here.substr(0, here.find('-') + 1);
  L4_CHECK(ring_.size() <= last_, "{} events in the ring, {} published", ring_.size(), last_);
  const std::uint64_t oldest =
      last_ - ring_.size();  // one less than the number of the oldest event
  std::uint64_t seen = oldest;
  bool lost = !since.starts_with(own);
  if (!lost) {
    since.remove_prefix(own.size());
    std::uint64_t number = 0;
    const auto [end, wrong] = std::from_chars(since.data(), since.data() + since.size(), number);
    lost = wrong != std::errc{} || end != since.data() + since.size() || number < oldest ||
           number > last_;
    if (!lost) seen = number;
  }
  std::string text;
  if (lost)
    text = http::event_text(id_of(seen), "lost",
                            R"({"message":"events from before are no longer there; ask for the )"
                            R"(state of jobs and incidents again"})");
  for (std::size_t i = seen - oldest; i < ring_.size(); ++i)
    if (following.concerns(ring_[i].job)) text += ring_[i].text;
  return text;
}

std::shared_ptr<http::EventStream> EventBoard::open(Following following, std::string_view since) {
  const MutexLock lock(mutex_);
  forget_gone();
  if (ended_ || followers_.size() >= options_.streams_max) return nullptr;
  std::string text(kBegin);
  if (!since.empty()) text += missed(following, since);
  text += http::event_text(id_of(last_), "following", "{}");
  auto stream = std::make_shared<http::EventStream>(options_.waiting_bytes_max + text.size());
  stream->push(text);
  followers_.push_back({std::move(following), stream});
  return stream;
}

void EventBoard::forget_gone() {
  std::erase_if(followers_, [](const Follower& follower) {
    const auto stream = follower.stream.lock();
    return !stream || stream->is_over();
  });
}

void EventBoard::end() {
  const MutexLock lock(mutex_);
  ended_ = true;
  for (const Follower& follower : followers_)
    if (const auto stream = follower.stream.lock()) stream->end();
  followers_.clear();
}

EventCounts EventBoard::counts() const {
  const MutexLock lock(mutex_);
  const auto open = std::ranges::count_if(followers_, [](const Follower& follower) {
    const auto stream = follower.stream.lock();
    return stream && !stream->is_over();
  });
  return {last_, static_cast<std::uint64_t>(open), dropped_};
}

}  // namespace l4::live
