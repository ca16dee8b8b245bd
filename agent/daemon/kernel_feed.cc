#include "agent/daemon/kernel_feed.h"

#include <algorithm>
#include <utility>

#include "agent/host/kernel_evidence.h"
#include "common/base/check.h"

namespace l4::daemon {
namespace {

/// A kernel message may be about a job whose first process was seen only a little later.
constexpr host::SinceBoot kSlack = std::chrono::seconds{60};

/// FNV-1a with the highest bit set, because a key of 0 means "no file". The tailer draws its keys
/// at random.
std::uint64_t key_of(const std::string& boot_id, const std::string& job) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const std::string* text : {&boot_id, &job})
    for (const char c : *text + '\n')
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash | (std::uint64_t{1} << 63U);
}

}  // namespace

KernelFeed::KernelFeed(Options options, Jobs& jobs, Committed committed, JobOf job_of)
    : options_(std::move(options)),
      jobs_(jobs),
      committed_(std::move(committed)),
      job_of_(std::move(job_of)) {}

void KernelFeed::open(const host::HostTime& now, const host::ProcessWatch* watch) {
  bool fresh = false;
  jobs_.each([&](pipeline::JobPipeline& pipeline) {
    if (feeds_.contains(pipeline.job())) return;
    Feed feed;
    feed.key = key_of(options_.boot_id, pipeline.job());
    feed.next = committed_(feed.key);
    const auto began = watch != nullptr ? watch->began(pipeline.job()) : std::nullopt;
    feed.fence = std::min(now.boot, began.value_or(now.boot));
    feed.fence -= std::min(feed.fence, kSlack);
    discover::LogFile file;
    file.path = file.name = options_.path;
    file.node = options_.node;
    file.node_known = true;
    file.kind = wire::SourceKind::kernel;
    feed.log = pipeline.open(std::move(file), now.wall);
    feeds_.emplace(pipeline.job(), feed);
    fresh = true;
  });
  // A job becomes known a moment after it began; messages that were read meanwhile may be about it.
  if (fresh && descriptor() >= 0) log_.reset();
  if (feeds_.empty() || (log_ && !fresh)) return;
  std::uint64_t next = ~std::uint64_t{0};
  host::SinceBoot fence = now.boot;
  for (const auto& [job, feed] : feeds_) {
    next = std::min(next, feed.next);
    fence = std::min(fence, feed.fence);
  }
  if (!log_) {
    host::KernelLog::Options options;
    options.path = options_.path;
    if (next > 0) options.next = next;
    log_ = std::make_unique<host::KernelLog>(options);
  }
  log_->fence(fence);
}

KernelFeed::Message KernelFeed::read(const host::KernelRecord& record,
                                     const host::ProcessWatch* watch) const {
  Message message{record, false, {}, {}};
  if (watch == nullptr) {
    message.tells = record.kernel && host::read_evidence(record.text).has_value();
    return message;
  }
  const auto fact = host::kernel_fact(record, *watch, options_.node);
  message.tells = fact.has_value();
  if (!fact || !fact->started) return message;
  L4_CHECK(fact->evidence.pid.has_value(), "a process has a start and no pid");
  const host::ProcessWatch::Process* process = watch->find(*fact->evidence.pid, *fact->started);
  L4_CHECK(process != nullptr, "process {} is not watched", *fact->evidence.pid);
  message.job = job_of_(*process);
  if (fact->rank && !message.job.empty()) message.whose = {fact->node, *fact->rank, fact->attempt};
  return message;
}

void KernelFeed::give(pipeline::JobPipeline& pipeline, Feed& feed, const Message& message) {
  const host::KernelRecord& record = message.record;
  if (record.sequence < feed.next) return;
  const bool tells = message.tells && record.since_boot >= feed.fence &&
                     (message.job.empty() || message.job == pipeline.job());
  pipeline::FilePosition part{options_.path, {}, feed.next, record.sequence + 1, {}};
  part.file.key = feed.key;
  if (record.sequence > feed.next) {  // the gap was before all jobs, or was overwritten unread
    pipeline.record(feed.log, part, record.sequence, {});
    part.offset = record.sequence;
  }
  if (tells)
    pipeline.record(feed.log, part, record.sequence + 1, host::as_lines(record), message.whose);
  else
    pipeline.record(feed.log, part, record.sequence + 1, {});
  feed.next = record.sequence + 1;
  lines_ += tells ? 1 : 0;
}

bool KernelFeed::poll(const host::HostTime& now, const host::ProcessWatch* watch) {
  open(now, watch);
  if (!log_) return false;
  return log_->poll(now, [&](const host::KernelRecord& record) {
    const Message message = read(record, watch);
    for (auto feed = feeds_.begin(); feed != feeds_.end();) {
      pipeline::JobPipeline* pipeline = jobs_.find(feed->first);
      if (pipeline == nullptr) {
        feed = feeds_.erase(feed);
        continue;
      }
      give(*pipeline, feed->second, message);
      ++feed;
    }
  });
}

void KernelFeed::restart() {
  for (auto& [job, feed] : feeds_) feed.next = committed_(feed.key);
  log_.reset();
}

std::vector<host::Notice> KernelFeed::flush_notices() {
  return log_ ? log_->flush_notices() : std::vector<host::Notice>{};
}

}  // namespace l4::daemon
