#include "agent/daemon/own_log.h"

#include <fmt/format.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <utility>

namespace l4::daemon {
namespace {

constexpr Millis kAgainAfter{600'000};
constexpr std::size_t kRememberedMax = 1024, kFileBytesMax = 4 << 20;

spdlog::level::level_enum level_of(OwnLog::Weight weight) {
  switch (weight) {
    case OwnLog::Weight::info:
      return spdlog::level::info;
    case OwnLog::Weight::warning:
      return spdlog::level::warn;
    case OwnLog::Weight::error:
      break;
  }
  return spdlog::level::err;
}

std::shared_ptr<spdlog::logger> make_logger(spdlog::sink_ptr sink) {
  auto logger = std::make_shared<spdlog::logger>("l4-agent", std::move(sink));
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
  logger->flush_on(spdlog::level::info);
  return logger;
}

}  // namespace

OwnLog::OwnLog(bool journal)
    : logger_(make_logger(std::make_shared<spdlog::sinks::stderr_sink_st>())), journal_(journal) {
  if (journal) logger_->set_pattern("%v");
}

Result<OwnLog> OwnLog::in_file(const std::filesystem::path& file) {
  try {
    return OwnLog(make_logger(
        std::make_shared<spdlog::sinks::rotating_file_sink_st>(file.string(), kFileBytesMax, 1)));
  } catch (const spdlog::spdlog_ex& error) {
    return std::unexpected(Error{file.string(), error.what()});
  }
}

bool OwnLog::write(Weight weight, std::string_view text, Millis steady) {
  if (written_.size() >= kRememberedMax) written_.clear();
  const auto [at, fresh] = written_.try_emplace(std::string(text), Written{steady, 0});
  if (!fresh) {
    if (steady - at->second.at < kAgainAfter) {
      ++at->second.again;
      return false;
    }
  }
  const std::uint64_t again = at->second.again;
  at->second = {steady, 0};
  constexpr const char* kMarks[] = {"<6>", "<4>", "<3>"};
  const char* mark = journal_ ? kMarks[static_cast<std::size_t>(weight)] : "";
  const std::string repeated = again > 0 ? fmt::format(" (said {} times more)", again) : "";
  std::string line = mark;
  line.append(text).append(repeated);
  logger_->log(level_of(weight), spdlog::string_view_t(line));
  return true;
}

void OwnLog::recovered(std::string_view text, Millis steady) {
  if (const auto at = written_.find(text); at != written_.end()) written_.erase(at);
  write(Weight::info, text, steady);
}

}  // namespace l4::daemon
