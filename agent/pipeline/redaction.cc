#include "agent/pipeline/redaction.h"

#include <re2/re2.h>

namespace l4::pipeline {

struct Redaction::State {
  std::vector<std::unique_ptr<re2::RE2>> expressions;
};

Redaction::Redaction() : state_(std::make_unique<State>()) {}
Redaction::~Redaction() = default;

Result<std::unique_ptr<const Redaction>> Redaction::make(
    const std::vector<std::string>& expressions, std::size_t& where) {
  std::unique_ptr<Redaction> made(new Redaction);
  where = 0;
  if (expressions.size() > kExpressionsMax)
    return std::unexpected(Error{"", "more than 64 expressions"});
  for (const std::string& text : expressions) {
    if (text.empty() || text.size() > kExpressionBytesMax)
      return std::unexpected(Error{"", "an expression has 1 to 4096 bytes"});
    re2::RE2::Options options;
    options.set_log_errors(false);
    auto expression = std::make_unique<re2::RE2>(text, options);
    if (!expression->ok()) return std::unexpected(Error{"", expression->error()});
    if (re2::RE2::FullMatch("", *expression))
      return std::unexpected(Error{"", "matches where nothing stands"});
    made->state_->expressions.push_back(std::move(expression));
    ++where;
  }
  return std::unique_ptr<const Redaction>(std::move(made));
}

std::string_view Redaction::apply(std::string_view text, std::string& scratch) const {
  bool changed = false;
  for (const auto& expression : state_->expressions) {
    if (!re2::RE2::PartialMatch(changed ? scratch : text, *expression)) continue;
    if (!changed) scratch.assign(text);
    changed = true;
    re2::RE2::GlobalReplace(&scratch, *expression, re2::StringPiece(kBlot.data(), kBlot.size()));
  }
  return changed ? std::string_view(scratch) : text;
}

}  // namespace l4::pipeline
