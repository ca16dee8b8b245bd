#include "agent/decode/structured_keys.h"

#include <algorithm>
#include <array>

#include "agent/text/rows_by_first.h"
#include "agent/text/scan.h"
#include "common/base/ascii.h"

namespace l4::decode {
namespace {

// Parents: `record` and `extra` are loguru's, `fields` tracing's, `error` and `host` ECS's,
// `jsonPayload` and `resource.labels` Google Cloud's.
constexpr std::array kKeys{
    StructuredKey{"", "message", Role::message, 9},
    StructuredKey{"record", "message", Role::message, 9},
    StructuredKey{"fields", "message", Role::message, 9},
    StructuredKey{"", "msg", Role::message, 8},
    StructuredKey{"", "short_message", Role::message, 8},
    StructuredKey{"", "textpayload", Role::message, 8},
    StructuredKey{"", "@m", Role::message, 8},
    StructuredKey{"", "event", Role::message, 7},
    StructuredKey{"", "log", Role::message, 6},
    StructuredKey{"", "body", Role::message, 5},
    StructuredKey{"", "level", Role::level, 9},
    StructuredKey{"", "levelname", Role::level, 9},
    StructuredKey{"", "severity", Role::level, 9},
    StructuredKey{"", "severity_text", Role::level, 9},
    StructuredKey{"", "loglevel", Role::level, 9},
    StructuredKey{"", "log_level", Role::level, 9},
    StructuredKey{"", "lvl", Role::level, 9},
    StructuredKey{"", "@l", Role::level, 9},
    StructuredKey{"log", "level", Role::level, 9},
    StructuredKey{"level", "name", Role::level, 9},
    StructuredKey{"", "priority", Role::level, 5},
    StructuredKey{"", "levelno", Role::level, 4},
    StructuredKey{"", "@timestamp", Role::time, 9},
    StructuredKey{"", "timestamp", Role::time, 9},
    StructuredKey{"", "__realtime_timestamp", Role::time, 9},
    StructuredKey{"time", "timestamp", Role::time, 9},
    StructuredKey{"", "time", Role::time, 8},
    StructuredKey{"", "ts", Role::time, 8},
    StructuredKey{"", "@t", Role::time, 8},
    StructuredKey{"", "asctime", Role::time, 8},
    StructuredKey{"", "_timestamp", Role::time, 8},
    StructuredKey{"", "timestamp_ms", Role::time, 8},
    StructuredKey{"", "timestamp_utc", Role::time, 8},
    StructuredKey{"", "time_ms", Role::time, 8},
    StructuredKey{"", "ts_ms", Role::time, 8},
    StructuredKey{"", "unix_time", Role::time, 7},
    StructuredKey{"", "wall_time", Role::time, 7},
    StructuredKey{"", "log_time", Role::time, 7},
    StructuredKey{"", "logged_at", Role::time, 7},
    StructuredKey{"", "created", Role::time, 8},
    StructuredKey{"", "datetime", Role::time, 7},
    StructuredKey{"", "date", Role::time, 6},
    StructuredKey{"", "t", Role::time, 6},
    StructuredKey{"*", "rank", Role::rank, 5},
    StructuredKey{"*", "global_rank", Role::rank, 9},
    StructuredKey{"*", "_rank", Role::rank, 5},
    StructuredKey{"*", "local_rank", Role::local_rank, 9},
    StructuredKey{"", "host", Role::host, 8},
    StructuredKey{"extra", "host", Role::host, 8},
    StructuredKey{"", "hostname", Role::host, 9},
    StructuredKey{"extra", "hostname", Role::host, 9},
    StructuredKey{"", "_hostname", Role::host, 9},
    StructuredKey{"host", "name", Role::host, 9},
    StructuredKey{"host", "hostname", Role::host, 9},
    StructuredKey{"", "node", Role::host, 7},
    StructuredKey{"extra", "node", Role::host, 7},
    StructuredKey{"", "node_name", Role::host, 7},
    StructuredKey{"", "nodename", Role::host, 7},
    StructuredKey{"kubernetes", "host", Role::host, 6},
    StructuredKey{"kubernetes", "pod_name", Role::host, 4},
    StructuredKey{"", "podname", Role::host, 4},
    StructuredKey{"labels", "pod_name", Role::host, 4},
    StructuredKey{"labels", "node_name", Role::host, 6},
    StructuredKey{"labels", "task_name", Role::host, 3},
    StructuredKey{"", "exc_info", Role::trace, 9},
    StructuredKey{"", "exc_text", Role::trace, 9},
    StructuredKey{"", "exception", Role::trace, 9},
    StructuredKey{"", "traceback", Role::trace, 9},
    StructuredKey{"", "stack_trace", Role::trace, 8},
    StructuredKey{"error", "stack_trace", Role::trace, 8},
    StructuredKey{"err", "stack", Role::trace, 8},
    StructuredKey{"error", "type", Role::type, 9},
    StructuredKey{"err", "type", Role::type, 9},
    StructuredKey{"exception", "type", Role::type, 9},
    StructuredKey{"error", "message", Role::reason, 9},
    StructuredKey{"err", "message", Role::reason, 9},
    StructuredKey{"exception", "value", Role::reason, 9},
    StructuredKey{"", "error", Role::reason, 8},
    StructuredKey{"", "err", Role::reason, 8},
};

/// Keys of logger, process and source line.
constexpr auto kQuietKeys = std::to_array<std::string_view>(
    {"name",       "logger",     "logger_name", "logname",   "module",          "function",
     "func",       "funcname",   "filename",    "file",      "pathname",        "lineno",
     "line",       "thread",     "threadname",  "thread_id", "process",         "processname",
     "pid",        "tid",        "caller",      "source",    "target",          "v",
     "version",    "stream",     "namespace",   "podname",   "containername",   "stack_info",
     "stacktrace", "text",       "taskname",    "msecs",     "facility",        "tag",
     "icon",       "no",         "insertid",    "args",      "relativecreated", "syslog_identifier",
     "log.logger", "ecs.version"});
constexpr auto kQuietParents = std::to_array<std::string_view>(
    {"labels", "kubernetes", "process", "thread",    "file",  "source",   "elapsed",
     "span",   "spans",      "log",     "ecs",       "agent", "attrs",    "resource",
     "level",  "time",       "docker",  "container", "host",  "exception"});
/// Parents that carry no information.
constexpr auto kPlainParents =
    std::to_array<std::string_view>({"", "record", "extra", "fields", "context", "jsonpayload"});

template <std::size_t N>
bool one_of(std::string_view text, const std::array<std::string_view, N>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return equals_lower(text, name); });
}

}  // namespace

const StructuredKey* find_key(std::string_view parent, std::string_view name) {
  static constexpr text::RowsByFirst kByFirst{kKeys, &StructuredKey::key};
  if (name.empty()) return nullptr;
  constexpr auto kMessages =
      std::to_array<std::string_view>({"", "record", "fields", "jsonpayload"});
  const bool plain = one_of(parent, kMessages);
  for (const StructuredKey& key : kByFirst.of(lower(name[0])))
    if (equals_lower(name, key.key) &&
        (key.parent == "*" || equals_lower(parent, key.parent) || (plain && key.parent.empty())))
      return &key;
  return nullptr;
}

bool says_nothing(std::string_view parent, std::string_view key) {
  return key.empty() || key[0] == '_' || one_of(key, kQuietKeys) || one_of(parent, kQuietParents) ||
         text::contains(parent, "googleapis");
}

bool is_plain_parent(std::string_view parent) {
  return one_of(parent, kPlainParents);
}

bool is_python_level(std::string_view key) {
  return equals_lower(key, "levelno");
}

}  // namespace l4::decode
