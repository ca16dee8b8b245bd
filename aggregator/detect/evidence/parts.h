// The parts of a diagnosis that can be switched off, to see what each one contributes.
//
// Place in the flow: `l4 diagnose --without LIST` -> Options::without -> the detectors and hints.
// The names are those of a table in parts.cc. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/error.h"

namespace l4::detect {

enum class Part : std::uint8_t {
  wording,      ///< levels, words and stacks that give an event its severity
  library,      ///< known faults
  forest,       ///< comparison of nodes by Isolation Forest
  dtw,          ///< comparison of iterations by DTW
  durations,    ///< how long iterations took
  cross_job,    ///< healthy runs, in which events were seen before
  accusations,  ///< lines that name another node or rank
  processes,    ///< what is known of processes and their exits
};

class Parts {
 public:
  bool has(Part part) const { return (parts_ >> static_cast<unsigned>(part) & 1U) != 0; }
  Parts& add(Part part) {
    parts_ |= 1U << static_cast<unsigned>(part);
    return *this;
  }

 private:
  std::uint32_t parts_ = 0;
};

/// The parts of a list with commas; the error names what is none of them, and all that are.
Result<Parts> parse_parts(std::string_view list);
/// `wording, library, ..`
std::string part_names();

}  // namespace l4::detect
