#include "aggregator/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "aggregator/serve/utf8.h"

namespace l4::aggregator {
namespace {

/// Logs the text unformatted: if spdlog formats, it compiles all of fmt once more.
void log(spdlog::level::level_enum level, const std::string& text) {
  const std::string line = serve::harmless(text);
  spdlog::default_logger_raw()->log(level, spdlog::string_view_t(line));
}

}  // namespace

void start_log(std::string_view level) {
  static const auto logger = [] {
    auto made = std::make_shared<spdlog::logger>("l4-aggregator",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
    made->flush_on(spdlog::level::info);
    spdlog::set_default_logger(made);
    return made;
  }();
  logger->set_level(spdlog::level::from_str(std::string(level)));
}

void log_info(const std::string& text) {
  log(spdlog::level::info, text);
}
void log_warning(const std::string& text) {
  log(spdlog::level::warn, text);
}
void log_error(const std::string& text) {
  log(spdlog::level::err, text);
}

}  // namespace l4::aggregator
