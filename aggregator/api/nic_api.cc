#include "aggregator/api/nic_api.h"

#include "aggregator/api/replies.h"
#include "aggregator/detect/nics/nics.h"
#include "aggregator/job/attempts.h"
#include "aggregator/job/view.h"
#include "aggregator/rows/nic_rows.h"

namespace l4::api {
namespace {

http::Response nics_of(const scoring::LiveJob& job) {
  const job::Attempts attempts(job.state());
  const auto numbers = attempts.numbers();
  const job::JobView view = job::make_view(attempts, numbers.empty() ? 0 : numbers.back(), false);
  serve::JsonWriter text;
  rows::write(text, job.id(), view, detect::nics::find_nics(view));
  return json(text);
}

}  // namespace

void show_nics(const RouteCall& call) {
  const bool asked = call.aggregator.job(
      call.id, live::ReportAge::none,
      [reply = call.reply, id = call.id](const scoring::LiveJob* job, const scoring::Shard&) {
        reply(job == nullptr ? nothing("job", id) : nics_of(*job));
      });
  if (!asked) call.reply(busy());
}

}  // namespace l4::api
