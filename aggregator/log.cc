#include "aggregator/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "aggregator/serve/utf8.h"

namespace l4::aggregator {

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
  spdlog::default_logger_raw()->info("{}", serve::harmless(text));
}
void log_warning(const std::string& text) {
  spdlog::default_logger_raw()->warn("{}", serve::harmless(text));
}
void log_error(const std::string& text) {
  spdlog::default_logger_raw()->error("{}", serve::harmless(text));
}

}  // namespace l4::aggregator
