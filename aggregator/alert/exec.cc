#include "aggregator/alert/exec.h"

#include <array>

#include "aggregator/alert/command.h"
#include "common/config/config_values.h"

namespace l4::alert {
namespace {

constexpr std::array<std::string_view, 2> kExecKeys{"command", "timeout_s"};

void read_exec(SinkSettings& from, SinkOptions& sink) {
  sink.timeout = Millis{10'000};
  sink.command = from.table.texts("command");
  if (!sink.command.empty() && !sink.command[0].starts_with('/'))
    from.table.refuse("command", "must begin with the absolute path of a program");
  read_seconds(from.table, "timeout_s", sink.timeout, 1, 60);
}

Result<unsigned> execute(const SinkOptions& sink, const Request& request,
                         const std::stop_token& stop) {
  constexpr unsigned kFine = 200;
  if (const auto done = run_command(sink.command, request.body, sink.timeout, stop); !done)
    return std::unexpected(done.error());
  return kFine;
}

}  // namespace

constinit const SinkKind kExec{
    .name = "exec",
    .keys = kExecKeys,
    .read = read_exec,
    .body = to_json,
    .deliver = execute,
};

}  // namespace l4::alert
