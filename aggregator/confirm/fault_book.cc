#include "aggregator/confirm/fault_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "aggregator/confirm/told_event.h"
#include "aggregator/faults/likeness.h"
#include "aggregator/serve/report_json.h"
#include "aggregator/serve/utf8.h"
#include "common/base/check.h"
#include "common/base/thread.h"

namespace l4::confirm {
namespace {

constexpr std::size_t kTaskBytes = 256;
constexpr Millis kPause{250};

}  // namespace

struct FaultBook::Turn {
  explicit Turn(std::atomic<std::size_t>& all) : turns(all) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() { --turns; }
  std::atomic<std::size_t>& turns;
};

FaultBook::FaultBook(LibraryPointer shipped, store::Path folder, store::Files& files,
                     store::Database& database, Hooks hooks)
    : shipped_(shipped ? std::move(shipped) : std::make_shared<const faults::Library>()),
      confirmed_(std::move(folder), files),
      database_(database),
      hooks_(std::move(hooks)),
      library_(shipped_),
      // Each confirmation is queued twice at most, and each drop once.
      queue_(4 * kWaitingMax, std::size_t{4} * kWaitingMax * kTaskBytes) {
  const auto opened = confirmed_.open();
  if (!opened) {
    hooks_.warn("confirmed faults cannot be read, and none can be confirmed: " +
                opened.error().text());
  } else {
    for (const Error& broken : opened->broken)
      hooks_.warn("a confirmed fault was passed over: " + broken.text());
    if (confirmed_.size() > 0)
      hooks_.say(fmt::format("{} confirmed faults are known", confirmed_.size()));
  }
  for (const faults::Fault& fault : confirmed_.all())
    if (shipped_->find(fault.id) != nullptr)
      hooks_.warn(
          fmt::format("the confirmed fault {} takes the place of the one that ships", fault.id));
  if (confirmed_.size() > 0)
    library_ = std::make_shared<const faults::Library>(shipped_->with(confirmed_.all()));
  thread_ = start_thread("l4-faults", [this] { run(); });
}

FaultBook::~FaultBook() {
  stop();
}

void FaultBook::stop() {
  queue_.close();
  if (thread_.joinable()) thread_.join();
}

void FaultBook::run() {
  while (!queue_.is_closed())
    for (const Task& task : queue_.drain(kPause))
      if (!queue_.is_closed()) task();
}

FaultBook::LibraryPointer FaultBook::library() const {
  const MutexLock lock(mutex_);
  return library_;
}

void FaultBook::publish() {
  auto fresh = std::make_shared<const faults::Library>(shipped_->with(confirmed_.all()));
  {
    const MutexLock lock(mutex_);
    std::swap(library_, fresh);
  }
  hooks_.published();
}

std::shared_ptr<FaultBook::Turn> FaultBook::acquire_turn() {
  if (++turns_ > kWaitingMax) {
    --turns_;
    return nullptr;
  }
  return std::make_shared<Turn>(turns_);
}

bool FaultBook::confirm(ConfirmRequest request, Then<Confirmed> then) {
  auto turn = acquire_turn();
  if (!turn) return false;
  return queue_.try_push([this, turn, request = std::move(request),
                          then = std::move(then)] { begin(turn, request, then); },
                         kTaskBytes);
}

bool FaultBook::drop(std::string id, std::string who, Then<faults::Fault> then) {
  auto turn = acquire_turn();
  if (!turn) return false;
  return queue_.try_push([this, turn, id = std::move(id), who = std::move(who),
                          then = std::move(then)] { then(remove(id, who)); },
                         kTaskBytes);
}

std::expected<diagnose::Report, Refused> FaultBook::report_of(const std::string& incident) {
  const auto row = database_.incident(incident);
  if (!row) return refuse(503, "database", row.error().text());
  if (!*row) return refuse(404, "not_found", "there is no incident " + incident);
  auto report = serve::report_from_json((*row)->report);
  if (!report)
    return refuse(422, "refused",
                  fmt::format("the report of incident {} is of another version: {}", incident,
                              report.error().text()));
  return std::move(*report);
}

void FaultBook::begin(const std::shared_ptr<Turn>& turn, const ConfirmRequest& request,
                      const Then<Confirmed>& then) {
  const auto report = report_of(request.incident);
  if (!report) return then(std::unexpected(report.error()));
  auto proposed = propose(request, *report, *library());
  if (!proposed || proposed->known) return then(std::move(proposed));
  if (!request.id.empty() && confirmed_.is_taken(request.id))
    return then(refuse(409, "exists",
                       fmt::format("id: {} is the id of a file that cannot be read: {}.toml",
                                   request.id, (confirmed_.folder() / request.id).string())));
  L4_CHECK(!proposed->evidence.empty(), "fault {} is proposed without evidence",
           proposed->fault.id);
  scoring::NormalQuestion question;
  question.fault = std::make_shared<const faults::Library>(alone(*proposed));
  question.job = report->job.id;
  for (const diagnose::IndicatingEvent& event : telling(*report)) question.told.push_back(event.id);
  question.words = faults::words_of(proposed->evidence.front().text);
  const auto asked = std::make_shared<Confirmed>(std::move(*proposed));
  const bool busy = !hooks_.ask_normal(std::move(question), [this, turn, request, asked,
                                                             then](scoring::NormalLines normal) {
    queue_.try_push([this, turn, request, asked, then,
                     normal = std::move(normal)] { end(request, std::move(*asked), normal, then); },
                    kTaskBytes);
  });
  if (busy) then(refuse(503, "busy", "too much waits for an answer; try again"));
}

/// Adds the past incidents that the proposed fault would also have explained.
void FaultBook::check_past_incidents(const ConfirmRequest& request, Confirmed& proposed) {
  const faults::Library one = alone(proposed);
  store::IncidentQuery query;
  query.count = kIncidentsMax;
  const auto rows = database_.incidents(query);
  if (!rows) return;
  for (const store::Incident& row : *rows) {
    if (row.id == request.incident) continue;
    ++proposed.incidents;
    const auto report = serve::report_from_json(row.report);
    if (!report) continue;
    const auto events = telling(*report);
    const auto shown = std::ranges::find_if(events, [&](const diagnose::IndicatingEvent& event) {
      return !one.match(event.text, diagnose::parameters_of(event)).empty();
    });
    if (shown != events.end())
      proposed.also_matches.push_back({row.id, row.job, row.state, shown->text});
  }
}

void FaultBook::end(const ConfirmRequest& request, Confirmed proposed, scoring::NormalLines normal,
                    const Then<Confirmed>& then) {
  auto judged = judge(std::move(proposed), std::move(normal), *library());
  if (!judged) return then(std::unexpected(judged.error()));
  check_past_incidents(request, *judged);
  faults::Fault& fault = judged->fault;
  fault.confirmed = faults::Confirmation{request.who, hooks_.now(), request.incident};
  if (request.dry_run) return then(std::move(judged));
  // Another fault may have got the same id since the proposal.
  for (int number = 2; request.id.empty() && confirmed_.is_taken(fault.id); ++number)
    fault.id = fmt::format(
        "{}_{}", fault.id.substr(0, fault.id.find_last_not_of("_0123456789") + 1), number);
  if (const auto saved = confirmed_.save(fault); !saved)
    return then(refuse(503, "not_stored", "the fault is not stored: " + saved.error().text()));
  publish();
  judged->stored = true;
  hooks_.say(fmt::format("fault {} was confirmed by {} from incident {}: {} (pattern {})", fault.id,
                         request.who, request.incident, serve::harmless(fault.title),
                         serve::harmless(fault.patterns.front())));
  then(std::move(judged));
}

std::expected<faults::Fault, Refused> FaultBook::remove(const std::string& id,
                                                        const std::string& who) {
  const faults::Fault* known = confirmed_.find(id);
  if (known == nullptr && shipped_->find(id) != nullptr)
    return refuse(
        409, "ships",
        fmt::format("{} is a fault that ships; only confirmed ones can be withdrawn", id));
  if (known == nullptr)
    return refuse(404, "not_found", "there is no confirmed fault " + serve::harmless(id));
  faults::Fault fault = *known;
  L4_CHECK(fault.confirmed, "fault {} is kept as confirmed without a confirmation", id);
  if (const auto done = confirmed_.drop(id); !done)
    return refuse(503, "not_stored", "the fault is still there: " + done.error().text());
  publish();
  hooks_.say(
      fmt::format("fault {} was withdrawn by {}: {} (confirmed by {} at {} from incident {})", id,
                  who, serve::harmless(fault.title), fault.confirmed->by,
                  to_rfc3339(fault.confirmed->at), fault.confirmed->incident));
  return fault;
}

}  // namespace l4::confirm
