// The table of kernel messages that are evidence; see kernel_evidence.h.
#pragma once

#include <span>
#include <string_view>

#include "agent/host/kernel_evidence.h"

namespace l4::host {

/// A message matches if it contains all words (that are not empty) and not `not_with`. Rows are
/// tried in order. `front`: the first word must begin the message.
struct KernelRule {
  KernelKind kind;
  std::string_view first, second = {}, not_with = {};
  bool front = false;
};

std::span<const KernelRule> kernel_rules();

}  // namespace l4::host
