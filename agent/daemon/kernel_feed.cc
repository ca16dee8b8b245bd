#include "agent/daemon/kernel_feed.h"

#include <algorithm>
#include <utility>

#include "agent/host/kernel_evidence.h"

namespace l4::daemon {
namespace {

/// What the kernel said a little before the first process of a job was seen may be about it.
constexpr host::SinceBoot kSlack = std::chrono::seconds{60};

/// FNV-1a, with the highest bit set: keys of files that the tailer draws do not have it by design
/// of chance alone, and 0 is none.
std::uint64_t key_of(const std::string& boot_id, const std::string& job) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const std::string* text : {&boot_id, &job})
    for (const char c : *text + '\n')
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash | (std::uint64_t{1} << 63U);
}

}  // namespace

KernelFeed::KernelFeed(Options options, Jobs& jobs, Committed committed)
    : options_(std::move(options)), jobs_(jobs), committed_(std::move(committed)) {}

void KernelFeed::open(const host::HostTime& now, const host::ProcessWatch* watch) {
  jobs_.each([&](pipeline::JobPipeline& pipeline) {
    if (feeds_.contains(pipeline.job())) return;
    Feed feed;
    feed.key = key_of(options_.boot_id, pipeline.job());
    feed.next = committed_(feed.key);
    discover::LogFile file;
    file.path = file.name = options_.path;
    file.node = options_.node;
    file.node_known = true;
    file.kind = wire::SourceKind::kernel;
    feed.log = pipeline.open(std::move(file), now.wall);
    feeds_.emplace(pipeline.job(), feed);
  });
  if (log_ || feeds_.empty()) return;
  host::KernelLog::Options options;
  options.path = options_.path;
  std::uint64_t next = ~std::uint64_t{0};
  for (const auto& [job, feed] : feeds_) next = std::min(next, feed.next);
  if (next > 0) options.next = next;
  log_ = std::make_unique<host::KernelLog>(options);
  host::SinceBoot fence = now.boot;
  for (const auto& [job, feed] : feeds_)
    if (const auto began = watch != nullptr ? watch->began(job) : std::nullopt)
      fence = std::min(fence, *began);
  log_->fence(fence - std::min(fence, kSlack));
}

void KernelFeed::give(pipeline::JobPipeline& pipeline, Feed& feed,
                      const host::KernelRecord& record) {
  if (record.sequence < feed.next) return;
  const bool tells = record.kernel && host::read_evidence(record.text).has_value();
  pipeline::Part part{options_.path, {}, feed.next, record.sequence + 1, {}};
  part.file.key = feed.key;
  if (record.sequence > feed.next) {  // from before the job, or overwritten unread
    pipeline.record(feed.log, part, record.sequence, {});
    part.offset = record.sequence;
  }
  pipeline.record(feed.log, part, record.sequence + 1, tells ? host::as_lines(record) : "");
  feed.next = record.sequence + 1;
  lines_ += tells ? 1 : 0;
}

bool KernelFeed::poll(const host::HostTime& now, const host::ProcessWatch* watch) {
  open(now, watch);
  if (!log_) return false;
  return log_->poll(now, [&](const host::KernelRecord& record) {
    for (auto feed = feeds_.begin(); feed != feeds_.end();) {
      pipeline::JobPipeline* pipeline = jobs_.find(feed->first);
      if (pipeline == nullptr) {
        feed = feeds_.erase(feed);
        continue;
      }
      give(*pipeline, feed->second, record);
      ++feed;
    }
  });
}

void KernelFeed::restart() {
  for (auto& [job, feed] : feeds_) feed.next = committed_(feed.key);
  log_.reset();
}

std::vector<host::Notice> KernelFeed::take_notices() {
  return log_ ? log_->take_notices() : std::vector<host::Notice>{};
}

}  // namespace l4::daemon
