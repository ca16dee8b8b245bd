#include "agent/pipeline/nccl_cards.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace l4::pipeline {
namespace {

constexpr std::string_view kInfo = "NCCL INFO ", kVia = " via NET/", kNet = "NET/",
                           kUsing = " : Using ", kVirtual = "Made virtual device [";
constexpr std::size_t kNameBytesMax = 64;

/// Up to the first dot; an address has none of that kind.
std::string_view short_name(std::string_view node) {
  const std::string_view front = node.substr(0, node.find('.'));
  return front.find_first_not_of("0123456789") == front.npos ? node : front;
}

/// The number at the front of `text`, which is removed.
std::optional<std::uint32_t> take_number(std::string_view& text) {
  std::uint32_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// "mlx5_0:1/RoCE" is "mlx5_0/1", "eth0:10.0.0.1<0>" is "eth0"; empty if it is neither.
std::string card_of(std::string_view text, bool is_socket) {
  const std::size_t colon = text.find(':');
  if (colon == 0 || colon == std::string_view::npos || colon > kNameBytesMax) return {};
  std::string name(text.substr(0, colon));
  if (is_socket) return name;
  text.remove_prefix(colon + 1);
  const auto port = take_number(text);
  return port && text.starts_with('/') ? name + "/" + std::to_string(*port) : std::string();
}

/// "IB" of "IB", "IBext" and "IBext_v10": plugins that number the same devices.
std::string_view transport_of(std::string_view text) {
  const std::string_view name = text.substr(0, text.find_first_of("/ :"));
  return name.starts_with("IB") ? name.substr(0, 2) : name;
}

}  // namespace

void NcclCards::add(std::string_view text, const wire::SourceDefinition& source,
                    std::optional<std::int32_t> device) {
  text.remove_prefix(std::min(kInfo.size(), text.size()));
  const std::size_t listed = text.find(kUsing), made = text.find(kVirtual), via = text.find(kVia);
  const bool is_net = text.starts_with(kNet);
  const bool is_connection =
      (text.starts_with("Channel ") || text.starts_with("Ring ")) && via != text.npos;
  if (!is_connection && (!is_net || (listed == text.npos && made == text.npos))) return;
  Host* const host = host_of(source.node);
  if (host == nullptr) return;
  std::optional<User> user;
  const auto local = source.local_rank ? source.local_rank : device;
  if (source.rank && source.rank->value() >= 0)
    user = User{source.rank->value(), -1};
  else if (local && *local >= 0)
    user = User{-1, *local};
  if (is_connection) {
    if (user) connect(text.substr(via + kVia.size()), *host, *user);
  } else if (listed != text.npos) {
    list(transport_of(text.substr(kNet.size())), text.substr(listed + kUsing.size()), *host, user);
  } else {
    join(text.substr(made + kVirtual.size()), *host);
  }
}

NcclCards::Host* NcclCards::host_of(std::string_view node) {
  node = short_name(node);
  if (const auto known = hosts_.find(node); known != hosts_.end()) return &known->second;
  if (node.empty() || hosts_.size() >= kHostsMax) return nullptr;
  return &hosts_[std::string(node)];
}

/// "[0]mlx5_0:1/RoCE [1]={[0] mlx5_0:1/RoCE, [1] mlx5_1:1/RoCE} [RO]; OOB eth0:10.0.0.1<0>"
void NcclCards::list(std::string_view transport, std::string_view text, Host& host,
                     const std::optional<User>& user) {
  Devices found;
  text = text.substr(0, text.find(';'));
  std::uint32_t of = 0;  // the number of the device that is listed; `joined`: of its parts
  bool joined = false;
  for (std::size_t at = text.find('['); at != std::string_view::npos; at = text.find('[')) {
    text.remove_prefix(at + 1);
    const auto number = take_number(text);
    if (!number || !text.starts_with(']')) continue;
    text.remove_prefix(1);
    if (text.starts_with("={")) {
      of = *number;
      joined = true;
      continue;
    }
    if (!joined) of = *number;
    if (text.starts_with(' ')) text.remove_prefix(1);
    const std::string_view device = text.substr(0, text.find_first_of(" ,}"));
    const std::string card = card_of(device, transport == "Socket");
    text.remove_prefix(device.size());
    if (!card.empty() && found.size() < kDevicesMax) {
      auto& cards = found[of];
      if (cards.size() < kDevicesMax) cards.push_back(card);
    }
    if (text.starts_with('}')) joined = false;
  }
  constexpr std::size_t kTransportsMax = 8;
  const std::string name(transport.substr(0, kNameBytesMax));
  if (found.empty() || (host.devices.size() >= kTransportsMax && !host.devices.contains(name)))
    return;
  host.devices[name] = std::move(found);
  if (user && host.cards.erase(*user) > 0) ++version_;
}

/// "2] name=mlx5_0+mlx5_1 speed=400000 ndevs=2"
void NcclCards::join(std::string_view text, Host& host) {
  constexpr std::string_view kName = "] name=";
  const auto number = take_number(text);
  if (!number || *number >= kDevicesMax || !text.starts_with(kName)) return;
  text.remove_prefix(kName.size());
  text = text.substr(0, text.find(' '));
  std::vector<std::string> cards;  // without their ports
  while (!text.empty() && cards.size() < kDevicesMax) {
    const std::size_t end = std::min(text.find('+'), text.size());
    cards.emplace_back(text.substr(0, std::min(end, kNameBytesMax)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (cards.size() > 1) host.devices["IB"][*number] = std::move(cards);
}

/// "IB/0/GDRDMA"
void NcclCards::connect(std::string_view text, Host& host, const User& user) {
  const std::string_view transport = transport_of(text);
  const std::size_t slash = text.find('/');
  if (slash == text.npos) return;
  text.remove_prefix(slash + 1);
  const auto number = take_number(text);
  if (!number || text.starts_with('(')) return;  // the card of another process
  const auto devices = host.devices.find(transport);
  if (devices == host.devices.end()) return;
  const auto cards = devices->second.find(*number);
  if (cards == devices->second.end()) return;
  if (!host.cards.contains(user) && host.cards.size() >= kUsersMax) return;
  auto& own = host.cards[user];
  for (const std::string& card : cards->second)
    version_ += own.size() < kDevicesMax && own.insert(card).second ? 1 : 0;
}

NcclCards::Users NcclCards::users(std::string_view node, std::string_view card) const {
  Users users;
  const auto host = hosts_.find(short_name(node));
  if (host == hosts_.end()) return users;
  const std::string_view device = card.substr(0, card.find('/'));
  for (const auto& [user, cards] : host->second.cards)
    if (std::ranges::any_of(cards, [&](const std::string& one) {
          return one == card || one == device;  // of joined ones the port is not told
        }))
      (user.rank >= 0 ? users.ranks : users.local_ranks)
          .push_back(user.rank >= 0 ? user.rank : user.local_rank);
  std::ranges::sort(users.ranks);
  std::ranges::sort(users.local_ranks);
  return users;
}

}  // namespace l4::pipeline
