// Agents that ship given batches: those recorded from a folder of logs, or one made up for each
// second. For tests of the aggregator, in one process or over the real wire.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "agent/ship/session.h"
#include "common/base/error.h"

namespace l4::test {

/// Batches of each node of a folder of logs, as the agents of `l4 diagnose` make them; each also
/// covers one more byte of an extra file, so that positions tell the batches apart.
Result<std::vector<std::vector<wire::Batch>>> record_batches(const std::filesystem::path& folder,
                                                             const std::string& job,
                                                             std::size_t segments_per_batch = 4);

/// One second of one node of a healthy job: an iteration of each of its ranks, with some 20 lines.
/// Number 0 defines what the others use.
wire::Batch healthy_second(const std::string& job, std::size_t node, std::size_t ranks,
                           std::size_t number, TimeMs at);

/// One node; its batches outlive its connections.
class PlayedNode final : public ship::Pipeline {
 public:
  PlayedNode(std::string name, std::vector<wire::Batch> batches, std::uint64_t incarnation = 7);

  void connect(std::unique_ptr<wire::ClientPort> port);
  void disconnect();
  /// Offers at most `most` more batches; returns how long the caller may wait.
  Millis step(wire::Instant now, std::size_t most = 1);
  void say_bye() { session_->stop("the test says so"); }
  /// Adds a batch behind the others.
  void add(wire::Batch batch);

  /// Questions to this node; the test answers for it.
  bool answer(wire::Answer answer) { return session_->answer(std::move(answer)); }
  std::vector<wire::Ask> questions;

  bool done() const { return committed_ >= batches_.size(); }
  std::size_t done_batches() const { return committed_; }
  const std::string& name() const { return name_; }
  wire::ClientPort& port() { return *port_; }

  void read_from(const std::vector<wire::Position>& committed) override;
  void committed(const std::vector<wire::Coverage>& coverage) override;
  void question(const wire::Ask& question) override { questions.push_back(question); }
  bool notify(ship::NoticeKind, std::string_view) override { return true; }

 private:
  std::string name_;
  std::vector<wire::Batch> batches_;
  std::uint64_t key_, incarnation_;
  std::size_t next_ = 0, committed_ = 0;
  bool positions_known_ = false;
  std::unique_ptr<wire::ClientPort> port_;
  std::unique_ptr<ship::Session> session_;
};

}  // namespace l4::test
