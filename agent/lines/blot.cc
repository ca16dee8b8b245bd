#include "agent/lines/blot.h"

#include "agent/pipeline/redaction.h"

namespace l4::lines {

using pipeline::Redaction;

std::string_view Blot::message(std::string_view text) {
  return user_ == nullptr ? text : user_->apply(text, scratch_);
}

bool Blot::apply(std::string& text) {
  bool changed = false;
  for (const Redaction* redaction : {user_, secrets_}) {
    if (redaction == nullptr) continue;
    const std::string_view left = redaction->apply(text, scratch_);
    if (left.data() == text.data()) continue;
    text.assign(left);
    changed = true;
  }
  return changed;
}

bool Blot::line(std::string& text, const std::vector<std::string>& messages) {
  for (const std::string& message : messages) {
    const std::size_t at = text.find(message);
    if (at != std::string::npos) {
      text.replace(at, message.size(), this->message(message));
    } else {
      text.assign(Redaction::kBlot);
      break;
    }
  }
  return apply(text) || !messages.empty();
}

}  // namespace l4::lines
