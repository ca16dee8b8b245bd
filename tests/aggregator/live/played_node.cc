#include "tests/aggregator/live/played_node.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>

#include "agent/discover/discover.h"
#include "agent/node_agent.h"

namespace l4::test {
namespace {

/// A sender that keeps the batches.
class Kept final : public wire::Sender {
 public:
  explicit Kept(std::vector<wire::Batch>& batches) : batches_(batches) {}
  bool send(wire::Batch batch) override {
    batches_.push_back(std::move(batch));
    return true;
  }

 private:
  std::vector<wire::Batch>& batches_;
};

std::uint64_t key_of(const std::string& text) {
  return std::hash<std::string>{}(text) | 1U;
}

/// Coverage of the file that only counts the played batches of a node.
wire::Coverage progress(const std::string& node, std::uint64_t number, std::uint64_t key) {
  wire::Coverage own{"progress of " + node, {number, number + 1}, 0, number + 1, {}};
  own.file.key = key;
  return own;
}

}  // namespace

Result<std::vector<std::vector<wire::Batch>>> record_batches(const std::filesystem::path& folder,
                                                             const std::string& job,
                                                             std::size_t segments_per_batch) {
  const std::filesystem::path config = std::filesystem::path(L4_SOURCE_DIR) / "config";
  const auto packs = segment::RulePackSet::load(config / "frameworks");
  if (!packs) return std::unexpected(packs.error());
  auto found = discover::discover({folder}, {});
  if (!found) return std::unexpected(found.error());
  std::map<std::string, std::vector<discover::LogFile>> files;
  for (discover::LogFile& file : found->files) files[file.node].push_back(std::move(file));
  std::vector<std::vector<wire::Batch>> all;
  for (auto& [node, logs] : files) {
    agent::Options options;
    options.segments_per_batch = segments_per_batch;
    agent::NodeAgent reader(node, std::move(logs), *packs, options);
    Kept kept(all.emplace_back());
    std::atomic<std::uint64_t> bytes{0};
    reader.read_all(kept, bytes, {});
    std::uint64_t number = 0;
    for (wire::Batch& batch : all.back()) {
      batch.job = job;
      for (wire::SourceDefinition& source : batch.sources) source.modified.reset();  // of a copy
      for (wire::Coverage& part : batch.coverage) part.file.key = key_of(node + part.path);
      batch.coverage.push_back(progress(node, number++, key_of(node + folder.string())));
    }
  }
  return all;
}

wire::Batch healthy_second(const std::string& job, std::size_t node, std::size_t ranks,
                           std::size_t number, TimeMs at) {
  constexpr std::uint32_t kTemplates = 12;
  wire::Batch batch;
  batch.job = job;
  batch.agent = "node-" + std::to_string(node);
  if (number == 0) {
    for (std::uint32_t i = 0; i < kTemplates; ++i) {
      wire::TemplateDefinition made;
      made.id = LocalTemplateId{i};
      made.text = "iteration part " + std::string(i + 1, 'x') + " took <*> ms";
      made.level = Level::info;
      made.marks = i == 0 ? wire::kMarkIteration : 0;
      made.skeletons = {Skeleton{i + 1ULL}};
      batch.templates.push_back(made);
    }
    batch.timers = {{0, "forward-backward", wire::TimerKind::own}};
  }
  for (std::size_t i = 0; i < ranks; ++i) {
    const SourceId source{static_cast<std::uint32_t>(i)};
    const Rank rank{static_cast<std::int32_t>(node * ranks + i)};
    if (number == 0) {
      wire::SourceDefinition made;
      made.id = source;
      made.path = batch.agent + "/rank" + std::to_string(rank.value()) + ".log";
      made.node = batch.agent;
      made.kind = wire::SourceKind::rank;
      made.rank = rank;
      made.rank_source = RankSource::env;
      batch.sources.push_back(made);
    }
    wire::Segment segment;
    segment.source = source;
    segment.stage = Stage::training;
    segment.iteration = Iteration{static_cast<std::int64_t>(number) + 1};
    segment.boundary = wire::Boundary::completed;
    segment.begin = at - Millis{1000};
    segment.end = at;
    segment.bytes = {number * 2000, (number + 1) * 2000};
    segment.lines = {number * 20 + 1, number * 20 + 20};
    segment.timed_last_line = segment.lines.last;
    for (std::uint32_t t = 0; t < kTemplates; ++t) {
      segment.events.push_back({LocalTemplateId{t}, 2, segment.lines.first + t, at});
      segment.order.push_back({LocalTemplateId{t}, 2});
    }
    segment.timers.push_back({0, 1, 900 + static_cast<double>(i), 900});
    batch.segments.push_back(std::move(segment));
  }
  return batch;
}

PlayedNode::PlayedNode(std::string name, std::vector<wire::Batch> batches,
                       std::uint64_t incarnation)
    : name_(std::move(name)),
      batches_(std::move(batches)),
      key_(batches_.empty() ? key_of(name_) : batches_[0].coverage.back().file.key),
      incarnation_(incarnation) {}

void PlayedNode::add(wire::Batch batch) {
  batch.coverage.push_back(progress(name_, batches_.size(), key_));
  batches_.push_back(std::move(batch));
}

void PlayedNode::connect(std::unique_ptr<wire::ClientPort> port) {
  disconnect();
  ship::SessionOptions options;
  options.agent = name_;
  options.incarnation = incarnation_;
  options.seed = key_;
  options.software = "l4 test";
  port_ = std::move(port);
  session_ = std::make_unique<ship::Session>(options, *port_, *this);
}

void PlayedNode::disconnect() {
  session_.reset();
  port_.reset();
  positions_known_ = false;
}

Millis PlayedNode::step(wire::Instant now, std::size_t most) {
  if (!session_) return Millis{1'000};
  session_->step(now);
  for (; most > 0 && positions_known_ && next_ < batches_.size() && session_->has_room(); --most)
    session_->offer(batches_[next_++]);
  return session_->step(now);
}

void PlayedNode::read_from(const std::vector<wire::Position>& positions) {
  next_ = 0;
  for (const wire::Position& position : positions)
    if (position.file.key == key_) next_ = position.offset;
  committed_ = next_;
  positions_known_ = true;
}

void PlayedNode::committed(const std::vector<wire::Coverage>& coverage) {
  for (const wire::Coverage& part : coverage)
    if (part.file.key == key_) committed_ = std::max<std::size_t>(committed_, part.bytes.to);
}

}  // namespace l4::test
