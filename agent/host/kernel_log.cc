#include "agent/host/kernel_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace l4::host {
namespace {

constexpr std::size_t kRecordBytesMax = 16U
                                        << 10U;  // the kernel returns no record to a smaller buffer

Level level_of(unsigned priority) {
  if (priority <= 2) return Level::fatal;
  if (priority == 3) return Level::error;
  if (priority == 4) return Level::warning;
  return priority == 7 ? Level::debug : Level::info;
}

template <class T>
bool take_number(std::string_view& text, char end, T& value) {
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || at == text.data() + text.size() || *at != end) return false;
  text.remove_prefix(static_cast<std::size_t>(at - text.data()) + 1);
  return true;
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// The kernel writes unprintable bytes as \xHH.
std::string unescaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && text[i + 1] == 'x') {
      const int high = digit(text[i + 2]), low = digit(text[i + 3]);
      if (high >= 0 && low >= 0) {
        out.push_back(static_cast<char>(high * 16 + low));
        i += 3;
        continue;
      }
    }
    out.push_back(text[i]);
  }
  return out;
}

}  // namespace

KernelLog::KernelLog(Options options) : options_(std::move(options)) {
  if (options_.next) {
    next_ = *options_.next;
    started_ = true;
  }
}

KernelLog::~KernelLog() {
  if (fd_ >= 0) ::close(fd_);
}

bool KernelLog::open(const HostTime& now) {
  if (fd_ >= 0) return true;
  if (retry_at_ && now.boot < *retry_at_) return false;
  fd_ = ::open(options_.path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd_ < 0) {
    const int error = errno;
    retry_at_ = now.boot + options_.retry;
    notices_.add("kernel_log", options_.path + " cannot be read: " + ::strerror(error) +
                                   (error == EPERM || error == EACCES ? " (CAP_SYSLOG)" : "") +
                                   "; kernel messages are missing");
    return false;
  }
  notices_.clear("kernel_log");
  // Older records are skipped unless a sequence to go on at is known.
  if (options_.from_end && !started_ && ::lseek(fd_, 0, SEEK_END) >= 0) drained_ = now.boot;
  return true;
}

bool KernelLog::poll(const HostTime& now, const Sink& sink) {
  if (!open(now)) return false;
  std::array<char, kRecordBytesMax> buffer;
  for (std::size_t reads = 0; reads < options_.records_per_poll;) {
    const ssize_t got = ::read(fd_, buffer.data(), buffer.size());
    if (got > 0) {
      ++reads;
      pending_.append(buffer.data(), static_cast<std::size_t>(got));
      cut(now, sink);
      continue;
    }
    if (got < 0 && (errno == EINTR || errno == EPIPE))
      continue;  // overrun: the next sequence number shows the gap
    if (got < 0 && errno != EAGAIN) {
      notices_.add("kernel_log", options_.path + ": " + ::strerror(errno));
      ::close(fd_);
      fd_ = -1;
      retry_at_ = now.boot + options_.retry;
      started_ = started_ || next_ > 0;  // after a reopen reading begins at the oldest message
      return false;
    }
    drained_ = now.boot;
    return false;
  }
  return true;
}

/// Gives the lines of `pending_` that are whole.
void KernelLog::cut(const HostTime& now, const Sink& sink) {
  std::size_t from = 0;
  for (std::size_t end = pending_.find('\n'); end != pending_.npos;
       end = pending_.find('\n', from)) {
    const std::string_view line = std::string_view{pending_}.substr(from, end - from);
    from = end + 1;
    if (skipping_) {
      skipping_ = false;
      continue;
    }
    // Lines that begin with a blank hold subsystem and device of the record above.
    if (!line.empty() && line[0] != ' ') header(line, now, sink);
  }
  pending_.erase(0, from);
  if (pending_.size() > kRecordBytesMax) {
    stats_.malformed += skipping_ ? 0 : 1;
    skipping_ = true;
    pending_.clear();
  }
}

/// `6,1234,98765432,-,caller=T1;text`.
void KernelLog::header(std::string_view line, const HostTime& now, const Sink& sink) {
  unsigned prefix = 0;
  std::uint64_t sequence = 0;
  std::int64_t stamp = 0;
  const std::size_t semicolon = line.find(';');
  std::string_view rest = line;
  constexpr std::int64_t kStampMax = std::int64_t{1} << 53;
  const bool whole = semicolon != line.npos && take_number(rest, ',', prefix) &&
                     take_number(rest, ',', sequence) && take_number(rest, ',', stamp);
  if (!whole || stamp < 0 || stamp > kStampMax || prefix > 0xffff) {
    ++stats_.malformed;
    return;
  }
  if (started_ && sequence < next_) {
    ++stats_.seen_before;
    return;
  }
  if (started_) stats_.lost += sequence - next_;
  started_ = true;
  next_ = sequence + 1;
  if (SinceBoot{stamp} < fence_) {
    ++stats_.fenced;
    return;
  }
  KernelRecord record;
  record.sequence = sequence;
  record.since_boot = std::min(SinceBoot{stamp}, now.boot);
  if (drained_) record.since_boot = std::max(record.since_boot, std::min(*drained_, now.boot));
  record.time = wall_of(record.since_boot, now);
  record.priority = prefix & 7U;
  record.level = level_of(record.priority);
  record.kernel = prefix < 8;
  record.text = unescaped(line.substr(semicolon + 1, 8U << 10U));
  ++stats_.records;
  sink(record);
}

std::string as_lines(const KernelRecord& record) {
  constexpr std::array<std::string_view, 8> kNames{"emerg ", "alert ", "crit  ", "err   ",
                                                   "warn  ", "notice", "info  ", "debug "};
  std::string stamp = to_rfc3339(record.time);  // 2026-11-20T15:54:42.123Z
  if (const std::size_t dot = stamp.find('.'); dot != stamp.npos) {
    stamp[dot] = ',';
    stamp.replace(stamp.size() - 1, 1, "000+00:00");
  }
  const std::string front = std::string{record.kernel ? "kern  :" : "user  :"} +
                            std::string{kNames[record.priority & 7U]} + ": " + stamp + " ";
  std::string out;
  std::string_view rest = record.text;
  do {
    const std::size_t end = rest.find('\n');
    out += front;
    out += rest.substr(0, end);
    out += '\n';
    rest = end == rest.npos ? std::string_view{} : rest.substr(end + 1);
  } while (!rest.empty());
  return out;
}

}  // namespace l4::host
