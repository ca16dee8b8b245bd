#include "aggregator/detect/network/network.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "aggregator/numbers/network.h"

namespace l4::detect::network {
namespace {

struct Words {
  std::string_view name, text;
};
constexpr std::array<Words, 9> kWords{{{"slow_server", "a slow server"},
                                       {"imbalance", "unequal work"},
                                       {"slow_link", "a slow link"},
                                       {"slow_switch", "a slow switch"},
                                       {"pause", "a pause of one server"},
                                       {"data_stall", "a step that began late"},
                                       {"hang", "a hang"},
                                       {"crash", "a crash"},
                                       {"stopped", "silence"}}};

bool is_address(std::string_view text) {
  return text.find(':') != std::string_view::npos ||
         text.find_first_not_of("0123456789.") == std::string_view::npos;
}

}  // namespace

std::string_view name(Trouble trouble) {
  return kWords.at(static_cast<std::size_t>(trouble)).name;
}

std::string_view text(Trouble trouble) {
  return kWords.at(static_cast<std::size_t>(trouble)).text;
}

std::string where(const Finding& finding) {
  constexpr std::size_t kPlacesMax = 4;
  if (finding.places.empty()) return {};
  const std::size_t shown = std::min(kPlacesMax, finding.places.size());
  return fmt::format(
      " at {}{}", fmt::join(finding.places.begin(), finding.places.begin() + shown, " or "),
      finding.places.size() > shown ? fmt::format(" or {} others", finding.places.size() - shown)
                                    : "");
}

std::string extent(const Finding& finding) {
  if (finding.steps == 0)
    return fmt::format("transfers {:.1f} times as slow as usual", finding.factor);
  return fmt::format("{} {}, {:.2f} times as long as usual", finding.steps,
                     finding.steps == 1 ? "step" : "steps", finding.factor);
}

bool is_failure(const Finding& finding) {
  if (!finding.open) return false;
  if (is_stop(finding.trouble)) return finding.in_step || finding.trouble != Trouble::stopped;
  return is_lasting(finding.trouble) &&
         (finding.steps == 0 || finding.steps >= numbers::network().steps_min);
}

std::string_view host(std::string_view name) {
  return is_address(name) ? name : name.substr(0, name.find('.'));
}

bool is_server(const Server& server, std::string_view node) {
  if (node.empty()) return false;
  return host(server.name) == host(node) ||
         std::ranges::find(server.addresses, node) != server.addresses.end();
}

}  // namespace l4::detect::network
