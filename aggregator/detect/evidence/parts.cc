#include "aggregator/detect/evidence/parts.h"

#include <algorithm>
#include <array>

namespace l4::detect {
namespace {

struct PartName {
  Part part;
  std::string_view name;
};

constexpr std::array kNames{
    PartName{Part::wording, "wording"},         PartName{Part::library, "library"},
    PartName{Part::forest, "forest"},           PartName{Part::dtw, "dtw"},
    PartName{Part::durations, "durations"},     PartName{Part::cross_job, "cross-job"},
    PartName{Part::accusations, "accusations"}, PartName{Part::processes, "processes"},
};

}  // namespace

Result<Parts> parse_parts(std::string_view list) {
  Parts parts;
  while (!list.empty()) {
    const std::string_view name = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), name.size() + 1));
    const auto known = std::ranges::find(kNames, name, &PartName::name);
    if (known == kNames.end())
      return std::unexpected(
          Error{std::string(name), "no part of a diagnosis; there are " + part_names()});
    parts.add(known->part);
  }
  return parts;
}

std::string part_names() {
  std::string names;
  for (const PartName& row : kNames) names.append(names.empty() ? "" : ", ").append(row.name);
  return names;
}

}  // namespace l4::detect
