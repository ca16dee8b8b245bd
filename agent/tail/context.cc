#include "agent/tail/context.h"

#include <algorithm>
#include <utility>

namespace l4::tail {

std::string_view reason_of(Missing why) {
  switch (why) {
    case Missing::old:
      return "older than the agent wants";
    case Missing::truncated:
      return "truncated before it was read; more may be missing";
    case Missing::deleted:
      return "deleted before it was read";
    case Missing::held:
      return "deleted, and not read within the time it is held open";
    case Missing::gone:
      return "gone since it was committed";
    case Missing::damaged:
      return "packed, and can not be unpacked";
    case Missing::counted:
      return "counted before the file was cut back";
  }
  return "";
}

void Context::wake(TailedLog& log) {
  if (log.queued) return;
  log.queued = true;
  ready.push_back(log.id);
}

void Context::touch(LogPart& part) {
  part.dirty = true;
  wake(*part.log);
}

void Context::set_alarm(LogPart& part, Millis at) {
  if (part.alarm > now.steady && part.alarm <= at) return;
  part.alarm = at;
  alarms.push({at, Alarm::Of::part, part.id.key});
}

void Context::hold(TailedLog& log, Millis until) {
  log.hold = until;
  alarms.push({until, Alarm::Of::log, log.id.value()});
}

void Context::search(LogPart& part) {
  part.give_up = now.steady + options.search;
  set_alarm(part, part.give_up);
  touch(part);
}

void Context::warn(std::string_view kind, const std::string& file, std::string reason,
                   std::uint64_t bytes) {
  if (sink != nullptr) sink->warning({std::string(kind), file, std::move(reason), bytes});
}

TextPosition Context::place(const LogPart& part, std::uint64_t offset) const {
  return {part.log->id, part.id, part.path, offset, part.known, part.user};
}

void Context::announce(TailedLog& log) {
  if (log.announced) return;
  log.announced = true;
  sink->log_begins({log.id, log.path, log.root});
}

void Context::give(LogPart& part, std::string_view bytes) {
  TailedLog& log = *part.log;
  announce(log);
  if (log.at_key != part.id.key || log.at_offset != part.read)
    sink->part(place(part, part.read), part.read == part.committed ? part.lines : 0);
  sink->bytes(place(part, part.read), bytes);
  part.marks.add(part.read, part.ending, bytes);
  part.read += bytes.size();
  part.started = true;
  part.ending.add(bytes);
  counters.bytes += bytes.size();
  log.at_key = part.id.key;
  log.at_offset = part.read;
  log.open_line = !bytes.ends_with('\n');
  log.last_bytes = now.steady;
  log.offered = false;
  if (log.quiet_alarm) return;
  log.quiet_alarm = true;
  alarms.push({now.steady + options.quiet_after, Alarm::Of::quiet, log.id.value()});
}

void Context::missing(LogPart& part, std::uint64_t to, Missing why) {
  if (to <= part.read) return;
  announce(*part.log);
  sink->missing(place(part, part.read), to, why);
  (is_loss(why) ? counters.lost_bytes : counters.skipped_bytes) += to - part.read;
  if (is_loss(why)) warn("lost", part.path, std::string(reason_of(why)), to - part.read);
  part.read = to;
  part.known = std::max(part.known, to);
  part.started = true;
  part.ending.clear();
  part.log->at_key = 0;
}

void Context::end_if_over(TailedLog& log) {
  if (!log.announced) return table.erase_if_empty(log);
  for (const LogPart* part : log.parts) {
    if (part->closed && !part->unread()) continue;
    const bool current = part->name.kind == discover::RotatedName::Kind::current;
    if (part->closed || !part->named || part->dirty || part->unread() || current) return;
  }
  sink->log_ends(log.id);
  const bool queued = log.queued;
  table.renumber(log);
  if (queued) wake(log);
  table.erase_if_empty(log);
}

bool Context::retire(LogPart& part) {
  TailedLog& log = *part.log;
  const bool over = part.closed && !part.unread() && part.committed >= part.read;
  if (over) {
    sink->forgotten(part.id);
    const bool last = log.parts.size() == 1 && !log.announced;
    if (!part.head.empty()) --counters.heads;
    table.erase(part);
    if (last) return true;
  }
  end_if_over(log);
  return over;
}

void Context::keep_open(LogPart& part, std::unique_ptr<TextFile> file) {
  part.file = std::move(file);
  open.push_back(&part);
  counters.open_files = open.size();
}

void Context::close_file(LogPart& part) {
  if (!part.file) return;
  part.file.reset();
  part.verified = false;
  std::erase(open, &part);
  counters.open_files = open.size();
}

}  // namespace l4::tail
