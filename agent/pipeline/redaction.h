// Expressions of text that must not leave the node: their matches are replaced in every line.
//
// Place in the flow: JobPipeline applies it to every record before it learns from the record, so
// that templates, parameters and skeletons hold no match. Immutable, thread-safe. Bounds: 64
// expressions of 4 KiB; RE2's own bound on memory; time linear in the line.
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

  /// Error: an expression is invalid; `where` is its index in the list.
  static Result<std::unique_ptr<const Redaction>> make(const std::vector<std::string>& expressions,
                                                       std::size_t& where);
  ~Redaction();
  Redaction(const Redaction&) = delete;
  Redaction& operator=(const Redaction&) = delete;

  /// Returns `text` if nothing matches, else the redacted text, which stands in `scratch`.
  std::string_view apply(std::string_view text, std::string& scratch) const;

 private:
  Redaction();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace l4::pipeline
