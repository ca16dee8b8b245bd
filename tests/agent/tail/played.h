// A tailer over a disk that is played, with time that the test moves.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "agent/tail/tailer.h"
#include "tests/agent/tail/collector.h"
#include "tests/agent/tail/world.h"

namespace l4::tail {

struct Played {
  explicit Played(Options given = {}, std::unique_ptr<Watcher> watcher = nullptr) {
    given.sources = {"/logs"};
    if (!watcher) watcher = disk.watcher();
    tailer.emplace(std::move(*Tailer::make(given, disk, std::move(watcher))));
    tailer->resume({});
  }
  void turn(Millis step = Millis{200}) {
    now += step;
    for (int i = 0; i < 5000 && tailer->turn(sink, {now, disk.now}); ++i) {
    }
  }
  void pass(Millis time) {
    for (const Millis end = now + time; now < end;) turn();
  }
  FakeDisk disk;
  Collector sink;
  std::optional<Tailer> tailer;
  Millis now{1'000};
};

}  // namespace l4::tail
