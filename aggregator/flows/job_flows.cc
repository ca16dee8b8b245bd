#include "aggregator/flows/job_flows.h"

namespace l4::flows {

const char* to_text(Cause cause) {
  switch (cause) {
    case Cause::slow_gpu:
      return "slow_gpu";
    case Cause::imbalance:
      return "imbalance";
    case Cause::degraded_link:
      return "degraded_link";
    case Cause::congested_switch:
      return "congested_switch";
    case Cause::pause:
      return "pause";
    case Cause::data_stall:
      return "data_stall";
    case Cause::hang:
      return "hang";
    case Cause::crash:
      return "crash";
    case Cause::stopped:
      return "stopped";
  }
  return "";
}

}  // namespace l4::flows
