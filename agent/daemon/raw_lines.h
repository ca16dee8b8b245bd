// Questions of the aggregator for raw lines: checked, made into tasks, answered.
//
// Flow: ship::Session -> Agent -> here -> lines::Desk, whose thread reads, -> here -> Session. The
// logs of a question are looked up among those that the tailer follows: no other file is ever
// opened, whatever the question says. Each failure becomes an answer that says so. Agent's thread.
// Bounds: the desk's; answers wait for room on the link and are dropped when the link is lost.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "agent/daemon/jobs.h"
#include "agent/daemon/own_log.h"
#include "agent/daemon/settings.h"
#include "agent/lines/desk.h"
#include "agent/ship/session.h"
#include "agent/tail/sources.h"
#include "agent/tail/tailer.h"

namespace l4::daemon {

class RawLines {
 public:
  struct Counts {
    std::uint64_t questions = 0, refused = 0, lines = 0, redacted = 0, bytes_read = 0;
    std::uint64_t shed = 0;  ///< refused under pressure; part of `refused`
  };

  /// The arguments outlive this.
  RawLines(const Settings& settings, Jobs& jobs, OwnLog& log);

  /// `tailer` may be null: nothing is followed yet. `busy`: why questions are refused for now;
  /// empty: they are answered.
  void ask(const wire::Ask& question, const tail::Tailer* tailer, std::string_view busy,
           Millis steady);
  /// Sends the answers that are ready, as far as the link has room. True if some answers still wait
  /// for room.
  bool send(ship::Session& session);
  /// Whether a question has no complete answer yet.
  bool works() const { return desk_.works() || !ready_.empty(); }
  /// Readable while an answer is ready; -1: there is none.
  int descriptor() const { return desk_.descriptor(); }
  const Counts& counts() const { return counts_; }

 private:
  lines::Task task_of(const wire::Ask& question, wire::LinesQuestion asked,
                      const tail::Tailer* tailer);
  void find_logs(lines::Task& task, const tail::Sources& sources, const tail::Tailer& tailer);
  void refuse(std::uint64_t number, wire::LinesGapKind why, std::string text);
  void add(std::uint64_t number, const wire::LinesAnswer& part, bool last);

  const Settings& settings_;
  Jobs& jobs_;
  OwnLog& log_;
  lines::Desk desk_;
  std::deque<wire::Answer> ready_;
  Counts counts_;
};

}  // namespace l4::daemon
