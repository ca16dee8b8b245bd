#include "aggregator/log.h"

#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <utility>

#include "aggregator/serve/utf8.h"

namespace l4::aggregator {
namespace {

constexpr std::size_t kFileBytesMax = 4 << 20;

void set_logger(spdlog::sink_ptr sink) {
  auto made = std::make_shared<spdlog::logger>("l4-aggregator", std::move(sink));
  made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
  made->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(made));
}

/// Logs the text unformatted: if spdlog formats, it compiles all of fmt once more.
void log(spdlog::level::level_enum level, const std::string& text) {
  const std::string line = serve::harmless(text);
  spdlog::default_logger_raw()->log(level, spdlog::string_view_t(line));
}

}  // namespace

void start_log(std::string_view level) {
  static const bool started = [] {
    set_logger(std::make_shared<spdlog::sinks::stderr_sink_mt>());
    return true;
  }();
  if (started) spdlog::default_logger_raw()->set_level(spdlog::level::from_str(std::string(level)));
}

Result<void> start_log_in(const std::filesystem::path& file) {
  try {
    set_logger(
        std::make_shared<spdlog::sinks::rotating_file_sink_mt>(file.string(), kFileBytesMax, 1));
  } catch (const spdlog::spdlog_ex& error) {
    return std::unexpected(Error{file.string(), error.what()});
  }
  return {};
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
