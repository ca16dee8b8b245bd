#include "aggregator/receive/notices.h"

#include <fmt/format.h>

#include <string_view>

namespace l4::receive {
namespace {

constexpr Millis kQuiet{600'000};
constexpr std::size_t kEntriesMax = 1024;

/// The meaning of the refusal and, if there is one, the remedy.
std::string_view meaning(wire::Refusal kind) {
  static constexpr std::array<std::string_view, wire::kRefusals> kMeanings{
      "a connection that does not speak this protocol",
      "a key that is not in the allow list ('l4 keys add' enrols a node)",
      "a key that was revoked",
      "a message longer than 1 MiB",
      "a message of several frames",
      "a message that cannot be read",
      "a kind of message that this version does not know",
      "an agent whose protocol version is not spoken here",
      "an agent that does not call itself by the name of its key",
      "an agent whose name another one has",
      "an agent too many",
      "an agent that takes no answers",
      "an agent that sends more than it may",
      "a connection for which no file descriptor is left (raise LimitNOFILE)"};
  return kMeanings.at(static_cast<std::size_t>(kind));
}

}  // namespace

std::optional<std::string> Notices::note(const wire::Refused& refused, Millis now) {
  ++counts_.at(static_cast<std::size_t>(refused.kind));
  if (entries_.size() >= kEntriesMax && now - pruned_ >= Millis{1'000}) {
    pruned_ = now;
    std::erase_if(entries_, [&](const auto& one) { return now - one.second.said >= kQuiet; });
  }
  const std::string address =
      entries_.size() < kEntriesMax ? refused.address : std::string("many addresses");
  auto key = std::pair(refused.kind, address);
  // Addresses that were seen before the bound was reached keep entries of their own.
  if (const auto own = std::pair(refused.kind, refused.address); entries_.contains(own)) key = own;
  const auto [entry, first] = entries_.try_emplace(key, Entry{now, 0});
  if (!first && now - entry->second.said < kQuiet) {
    ++entry->second.since;
    return std::nullopt;
  }
  const std::uint64_t since = std::exchange(entry->second.since, 0);
  entry->second.said = now;
  return fmt::format(
      "refused {} from {}{}{}{}", meaning(refused.kind),
      key.second.empty() ? "an address that was gone at once" : key.second,
      refused.detail.empty() ? "" : ": ", refused.detail,
      since == 0 ? "" : fmt::format(" (and {} times since this was last said)", since));
}

}  // namespace l4::receive
