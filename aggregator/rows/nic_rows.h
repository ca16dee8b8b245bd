// Network cards of a job as JSON; schemas/openapi.yaml describes it as Nics.
//
// Flow: api/nic_api.cc -> here. An answer ends before kNicBytesMax; cards that do not fit count as
// left out. Thread-safe, no state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "aggregator/detect/nics/nics.h"
#include "aggregator/job/view.h"
#include "aggregator/serve/json_text.h"

namespace l4::rows {

inline constexpr std::size_t kNicBytesMax = std::size_t{1} << 20U;

void write(serve::JsonWriter& to, std::string_view job, const job::JobView& view,
           const detect::nics::Nics& nics);

}  // namespace l4::rows
