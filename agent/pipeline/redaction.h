// What a user does not want to leave the node: expressions whose matches are blotted out of lines.
//
// Place in the flow: JobPipeline applies it to every record before anything is learned of it, so
// that templates, parameters and skeletons do not hold what matched. Immutable, thread-safe.
// Bounds: 64 expressions of 4 KiB; RE2's own on memory, in time linear in the line.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"

namespace l4::pipeline {

class Redaction {
 public:
  static constexpr std::string_view kBlot = "[redacted]";
  static constexpr std::size_t kExpressionsMax = 64, kExpressionBytesMax = 4096;

  /// Error: which expression is none; `where` is its place in the list, from 0.
  static Result<std::unique_ptr<const Redaction>> make(const std::vector<std::string>& expressions,
                                                       std::size_t& where);
  ~Redaction();
  Redaction(const Redaction&) = delete;
  Redaction& operator=(const Redaction&) = delete;

  /// `text` itself if nothing matches, else what is left of it, in `scratch`.
  std::string_view apply(std::string_view text, std::string& scratch) const;

 private:
  Redaction();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace l4::pipeline
