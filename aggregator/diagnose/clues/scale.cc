#include "aggregator/diagnose/clues/scale.h"

#include <array>
#include <limits>
#include <utility>

#include "common/base/check.h"
#include "common/config/config_table.h"
#include "shipped_table.h"

namespace l4::diagnose::clues {
namespace {

constexpr double kMost = 1000;    // no score is near it
constexpr double kMostOdds = 20;  // a confidence of 1, but for one in 10^9

ClueRow read_row(ConfigTable table) {
  ClueRow row;
  row.weight = table.number("weight", 0, kMost);
  row.cap = table.number_or("cap", std::numeric_limits<double>::infinity(), 0, kMost);
  row.further = table.number_or("further", 1, 0, 1);
  static_cast<void>(table.text("origin"));
  return row;
}

/// A ground that must speak for a claim, or against it, has a weight of that sign.
GroundRow read_ground(ConfigTable table) {
  GroundRow row;
  row.sign = static_cast<Sign>(table.choice("sign", {"up", "down", "any"}));
  row.weight = table.number("weight", row.sign == Sign::up ? 0 : -kMostOdds,
                            row.sign == Sign::down ? 0 : kMostOdds);
  row.most = table.number_or("most", kConfidenceMost, 0, kConfidenceMost);
  static_cast<void>(table.text("origin"));
  return row;
}

/// `base`: what a row that is left out has; null: none may be.
GroundRows read_grounds(ConfigTable root, const Scale* base) {
  GroundRows rows = base != nullptr ? base->grounds : GroundRows{};
  for (std::size_t claim = 0; claim < kClaims; ++claim) {
    ConfigTable table = root.table(name(static_cast<Claim>(claim)));
    for (std::size_t i = 0; i < kGroundKinds; ++i) {
      const auto kind = static_cast<GroundKind>(i);
      if (claim_of(kind) != static_cast<Claim>(claim)) continue;
      if (table.has(name(kind)))
        rows[i] = read_ground(table.table(name(kind)));
      else if (base == nullptr)
        table.refuse(name(kind), "missing: each ground of a confidence needs its weight");
    }
  }
  return rows;
}

Result<Table> read(ConfigTable root, const Scale* base) {
  Table found;
  Scale& scale = found.scale;
  if (base != nullptr) scale = *base;
  ConfigTable kinds = root.table("clue");
  for (std::size_t kind = 0; kind < kWeighedKinds; ++kind) {
    const std::string_view key = name(static_cast<ClueKind>(kind));
    if (kinds.has(key))
      scale.rows[kind] = read_row(kinds.table(key));
    else if (base == nullptr)
      kinds.refuse(key, "missing: each kind of clue needs its weight");
  }
  const std::array<std::pair<std::string_view, double Shares::*>, 9> shares{{
      {"failure", &Shares::failure},
      {"notice", &Shares::notice},
      {"quiet", &Shares::quiet},
      {"beside_fatal", &Shares::beside_fatal},
      {"known_fault", &Shares::known_fault},
      {"everywhere", &Shares::everywhere},
      {"reporter", &Shares::reporter},
      {"unsure_lead", &Shares::unsure_lead},
      {"answers", &Shares::answers},
  }};
  ConfigTable share = root.table("share");
  for (const auto& [key, value] : shares)
    scale.shares.*value =
        base != nullptr ? share.number_or(key, base->shares.*value, 0, 2) : share.number(key, 0, 2);
  scale.grounds = read_grounds(root.table("confidence"), base);
  found.numbers = numbers::read(root.table("number"));
  if (auto error = root.finish()) return std::unexpected(std::move(*error));
  return found;
}

Scale read_shipped() {
  auto table = ConfigTable::parse(numbers::kShippedTable, "scoring.toml");
  L4_CHECK(table, "{}", table.error().text());
  auto found = read(std::move(*table), nullptr);
  L4_CHECK(found, "{}", found.error().text());
  return found->scale;
}

}  // namespace

const Scale& shipped_scale() {
  static const Scale scale = read_shipped();
  return scale;
}

Result<Table> read_table(const std::filesystem::path& file) {
  auto table = ConfigTable::load(file);
  if (!table) return std::unexpected(table.error());
  return read(std::move(*table), &shipped_scale());
}

Result<Table> read_table_text(std::string_view text, const std::string& name) {
  auto table = ConfigTable::parse(text, name);
  if (!table) return std::unexpected(table.error());
  return read(std::move(*table), &shipped_scale());
}

}  // namespace l4::diagnose::clues
