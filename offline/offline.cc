#include "offline/offline.h"

#include <sys/resource.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

#include "agent/time_hints.h"
#include "aggregator/job/doubts.h"
#include "aggregator/receive/receiver.h"
#include "common/base/check.h"
#include "common/base/thread.h"
#include "common/wire/memory_transport.h"

namespace l4::offline {
namespace {

constexpr std::size_t kQueueBatches = 32;

/// The number of workers: as many as asked for, or fewer if address space is limited (`ulimit -v`),
/// because each needs some.
std::size_t workers_for(std::size_t asked, std::size_t nodes) {
  constexpr rlim_t kSpace = 64 << 20;
  rlimit space{};
  if (::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
    asked = std::min<std::size_t>(asked, space.rlim_cur / kSpace);
  return std::clamp<std::size_t>(asked, 1, std::max<std::size_t>(nodes, 1));
}

using FilesByNode = std::vector<std::pair<std::string, std::vector<discover::LogFile>>>;

FilesByNode group(std::vector<discover::LogFile> files) {
  std::map<std::string, std::vector<discover::LogFile>> by_node;
  for (discover::LogFile& file : files) by_node[file.node].push_back(std::move(file));
  FilesByNode grouped(std::make_move_iterator(by_node.begin()),
                      std::make_move_iterator(by_node.end()));
  return grouped;
}

std::vector<std::uint64_t> bytes_of(const FilesByNode& nodes) {
  std::vector<std::uint64_t> bytes;
  for (const auto& [name, files] : nodes) {
    std::uint64_t sum = 0;
    for (const discover::LogFile& file : files) sum += file.bytes_with_older();
    bytes.push_back(sum);
  }
  return bytes;
}

/// A time with a year that some node prints, the first few of them asked: other nodes may print
/// none.
std::optional<TimeMs> time_of(const FilesByNode& nodes) {
  constexpr std::size_t kNodesAsked = 8;
  for (std::size_t i = 0; nodes.size() > 1 && i < std::min(nodes.size(), kNodesAsked); ++i)
    if (const auto time = agent::printed_time(nodes[i].second)) return time;
  return std::nullopt;
}

/// Largest nodes first, so that no worker is left with a long one at the end.
std::vector<std::size_t> order_by_size(const std::vector<std::uint64_t>& bytes) {
  std::vector<std::size_t> order(bytes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>{}, [&](std::size_t i) { return bytes[i]; });
  return order;
}

job::Limits limits_of(const Shares& shares, std::size_t agents) {
  constexpr std::size_t kEventsMin = 20'000;
  const std::size_t part = shares.sequence_events_max / std::max<std::size_t>(agents, 1);
  return {.sequence_events = std::clamp(part, kEventsMin, job::Limits{}.sequence_events)};
}

/// Files in the private folder keep the name that the user gave: `stdin`, `logs`.
Error as_given(Error error, const std::filesystem::path& folder) {
  if (folder.empty()) return error;
  const std::string front = folder.string() + "/";
  for (auto at = error.where.find(front); at != std::string::npos; at = error.where.find(front, at))
    error.where.erase(at, front.size());
  return error;
}

/// Why there is nothing to diagnose, although files were found: the first few, with their reasons.
std::optional<Error> nothing_read(const std::vector<std::filesystem::path>& paths,
                                  const job::JobState& state) {
  constexpr std::size_t kNamedMax = 3;
  const auto has_text = [](const wire::Coverage& part) { return part.bytes.to > part.bytes.from; };
  if (std::ranges::any_of(state.coverage(), has_text)) return std::nullopt;
  std::string reason = "nothing could be read: ";
  const auto& warnings = state.warnings();
  for (std::size_t i = 0; i < std::min(kNamedMax, warnings.size()); ++i)
    reason += (i > 0 ? ", " : "") + warnings[i].file + " (" + warnings[i].reason + ")";
  if (warnings.size() > kNamedMax)
    reason += " and " + std::to_string(warnings.size() - kNamedMax) + " more";
  if (warnings.empty()) reason += state.coverage().size() > 1 ? "all files are empty" : "is empty";
  std::string where;
  for (const auto& path : paths) where += (where.empty() ? "" : ", ") + path.string();
  return Error{where, reason};
}

}  // namespace

agent::Options share_of(const agent::Options& options, const Shares& shares, std::uint64_t bytes,
                        std::uint64_t all) {
  constexpr std::size_t kTemplatesMin = 1'000;
  const double part = all == 0 ? 1 : static_cast<double>(bytes) / static_cast<double>(all);
  const auto templates = static_cast<std::size_t>(part * static_cast<double>(shares.templates_max));
  agent::Options own = options;
  own.drain.templates_max = std::min(own.drain.templates_max, std::max(kTemplatesMin, templates));
  return own;
}

Result<Job> read_job(const std::vector<std::filesystem::path>& paths,
                     const segment::RulePackSet& packs, job::TemplateTable& templates,
                     const Options& options, Progress& progress) {
  auto found = discover::discover(
      paths, {.layout = options.layout, .private_folder = options.private_folder});
  if (!found) return std::unexpected(as_given(found.error(), options.private_folder));
  Job result;
  FilesByNode nodes = group(std::move(found->files));
  const std::vector<std::uint64_t> bytes = bytes_of(nodes);
  const std::uint64_t all = std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
  progress.bytes_all.fetch_add(all, std::memory_order_relaxed);
  const std::vector<std::size_t> order = order_by_size(bytes);
  result.state = std::make_unique<job::JobState>(found->job, options.job_index, templates,
                                                 limits_of(options.shares, nodes.size()));
  result.mtimes_equal = found->mtimes_equal;
  result.state->note(std::move(found->warnings));
  result.agents.resize(nodes.size());
  const std::size_t workers = workers_for(options.threads, nodes.size());
  wire::MemoryLink link = wire::make_memory_link(workers, kQueueBatches);
  const std::optional<TimeMs> job_time = time_of(nodes);
  std::atomic<std::size_t> next{0};
  auto work = [&](std::unique_ptr<wire::Sender> sender) {
    for (std::size_t i = next++; i < order.size(); i = next++) {
      auto& [name, files] = nodes[order[i]];
      auto agent = std::make_unique<agent::NodeAgent>(
          name, std::move(files), packs,
          share_of(options.agent, options.shares, bytes[order[i]], all), job_time);
      agent->read_all(*sender, progress.bytes_done, {});
      agent->freeze();
      result.agents[order[i]] = std::move(agent);
    }
  };
  {
    L4_CHECK(link.senders.size() == workers, "{} senders for {} workers", link.senders.size(),
             workers);
    std::vector<std::jthread> threads;
    threads.reserve(workers);
    try {
      for (std::size_t i = 0; i < workers; ++i)
        threads.push_back(start_thread(
            "l4-read",
            [&work, sender = std::move(link.senders[i])]() mutable { work(std::move(sender)); }));
    } catch (const std::system_error& error) {  // a limit of processes or of memory: do with fewer
      if (threads.empty())
        return std::unexpected(Error{"", std::string("cannot start a thread: ") + error.what()});
    }
    link.senders.clear();
    receive::receive_all(*link.receiver, *result.state, result.rejected);
  }
  result.state->note(job::doubts(*result.state));
  if (const auto nothing = nothing_read(paths, *result.state))
    return std::unexpected(as_given(*nothing, options.private_folder));
  return result;
}

}  // namespace l4::offline
