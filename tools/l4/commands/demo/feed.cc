#include "tools/l4/commands/demo/feed.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "common/base/thread.h"
#include "common/http/client.h"
#include "tools/l4/ask/event_reader.h"

namespace l4::commands::demo {
namespace {

constexpr Millis kFeedSilence{40'000};  // a heartbeat comes each 15 s
constexpr Millis kListMost{5'000}, kFeedPause{500};
constexpr std::size_t kChangesMax = 10'000;

/// Waits; returns early if the thread is to end.
void pause(const std::stop_token& stop) {
  Mutex mutex;
  CondVar wake;
  MutexLock lock(mutex);
  wake.wait_for(lock, stop, kFeedPause, [&] { return stop.stop_requested(); });
}

}  // namespace

Feed::Feed(ask::Aggregator asked)
    : asked_(std::move(asked)), arrived_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  thread_ = start_thread("l4-feed", [this](const std::stop_token& stop) { run(stop); });
}

std::vector<ask::ChangeRow> Feed::take() {
  std::uint64_t count = 0;
  static_cast<void>(::read(arrived_.number(), &count, sizeof count) < 0);
  const MutexLock lock(mutex_);
  return std::exchange(changes_, {});
}

void Feed::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    follow(stop);
    if (stop.stop_requested()) return;
    ask_for_open();
    pause(stop);
  }
}

void Feed::follow(const std::stop_token& stop) {
  ask::EventReader reader;
  const auto ingest = [&](std::string_view piece) {
    for (const ask::StreamedEvent& event : reader.feed(piece)) {
      if (event.type == "following") ask_for_open();  // those of the time before
      if (event.type != "incident") continue;
      if (auto change = ask::read_change(event.data)) add(std::move(*change));
    }
    return !stop.stop_requested();
  };
  static_cast<void>(http::follow(asked_.address + "/api/v1/events",
                                 ask::how_to_ask(asked_, kFeedSilence), ingest));
}

void Feed::ask_for_open() {
  const auto body = ask::fetch(asked_, "/api/v1/incidents?open=true", kListMost);
  const auto list = body ? ask::read_incidents(*body) : std::unexpected(Error{});
  if (!list) return;
  for (const ask::IncidentRow& row : list->incidents) {
    if (known_.contains(row.id)) continue;
    ask::ChangeRow change;
    change.kind = "opened";
    change.incident = row.id;
    change.job = row.job;
    change.state = row.state;
    change.first_node = row.first_node;
    change.attempt = row.attempt;
    change.at = row.opened;
    add(std::move(change));
  }
}

void Feed::add(ask::ChangeRow change) {
  known_.insert(change.incident);
  const MutexLock lock(mutex_);
  if (changes_.size() < kChangesMax) changes_.push_back(std::move(change));
  const std::uint64_t one = 1;
  static_cast<void>(::write(arrived_.number(), &one, sizeof one) < 0);
}

}  // namespace l4::commands::demo
