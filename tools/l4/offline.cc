#include "tools/l4/offline.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <thread>

#include "aggregator/receive/receiver.h"
#include "common/wire/memory_transport.h"

namespace l4::cli {
namespace {

constexpr std::size_t kQueueMessages = 64;

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

Result<OfflineJob> read_job(const std::vector<std::filesystem::path>& paths,
                            const segment::RulePackSet& packs, job::TemplateTable& templates,
                            const OfflineOptions& options, Progress& progress) {
  auto found = discover::discover(
      paths, {.layout = options.layout, .private_folder = options.private_folder});
  if (!found) return std::unexpected(found.error());
  OfflineJob result;
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
  const std::size_t workers =
      std::clamp<std::size_t>(options.threads, 1, std::max<std::size_t>(nodes.size(), 1));
  wire::MemoryLink link = wire::make_memory_link(workers, kQueueMessages);
  std::atomic<std::size_t> next{0};
  auto work = [&](std::unique_ptr<wire::Sender> sender) {
    for (std::size_t i = next++; i < order.size(); i = next++) {
      auto& [name, files] = nodes[order[i]];
      auto agent = std::make_unique<agent::NodeAgent>(
          name, std::move(files), packs,
          share_of(options.agent, options.shares, bytes[order[i]], all));
      agent->read_all(*sender, progress.bytes_done, {});
      agent->freeze();
      result.agents[order[i]] = std::move(agent);
    }
  };
  {
    std::vector<std::jthread> threads;
    threads.reserve(workers);
    for (std::size_t i = 0; i < workers; ++i)
      threads.emplace_back(work, std::move(link.senders[i]));
    link.senders.clear();
    receive::receive_all(*link.receiver, *result.state, result.rejected);
  }
  return result;
}

}  // namespace l4::cli
