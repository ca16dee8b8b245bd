// Numbers for exporters, by name.
//
// Place in the flow: decoders name the exporter of a record by its number; the analyser keeps a
// sequence for each. One owner, one thread. Bounds: kExportersMax; further ones get kNone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/flows/record.h"

namespace l4::flows::decode {

inline constexpr std::size_t kExportersMax = 4096;

class Exporters {
 public:
  std::uint32_t number(std::string_view name) {
    if (last_ < names_.size() && names_[last_] == name) return last_;
    const auto found = numbers_.find(name);
    if (found != numbers_.end()) return last_ = found->second;
    if (names_.size() >= kExportersMax) return kNone;
    last_ = static_cast<std::uint32_t>(names_.size());
    names_.emplace_back(name);
    numbers_.emplace(std::string(name), last_);
    return last_;
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::uint32_t, std::less<>> numbers_;
  std::uint32_t last_ = 0;  ///< records of one exporter follow each other
};

}  // namespace l4::flows::decode
