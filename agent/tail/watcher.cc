#include "agent/tail/watcher.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace l4::tail {
namespace {

constexpr std::uint32_t kNames = IN_CREATE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | IN_ATTRIB |
                                 IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK;
constexpr std::size_t kBufferBytes = 64 * 1024;

class InotifyWatcher final : public Watcher {
 public:
  explicit InotifyWatcher(int descriptor) : descriptor_(descriptor), buffer_(kBufferBytes) {}
  ~InotifyWatcher() override { ::close(descriptor_); }
  InotifyWatcher(const InotifyWatcher&) = delete;
  InotifyWatcher& operator=(const InotifyWatcher&) = delete;

  int fd() const override { return descriptor_; }

  Outcome<int> watch(const std::string& folder, bool writes) override {
    const int number =
        ::inotify_add_watch(descriptor_, folder.c_str(), kNames | (writes ? IN_MODIFY : 0U));
    if (number < 0) return std::unexpected(errno);
    return number;
  }

  void unwatch(int watch) override { ::inotify_rm_watch(descriptor_, watch); }

  bool read(const std::function<void(const Notice&)>& visit) override {
    const ssize_t size = ::read(descriptor_, buffer_.data(), buffer_.size());
    if (size <= 0) return false;
    for (std::size_t at = 0; at + sizeof(inotify_event) <= static_cast<std::size_t>(size);) {
      inotify_event event{};
      std::memcpy(&event, buffer_.data() + at, sizeof event);
      Notice notice;
      notice.watch = event.wd;
      if (event.len > 0) notice.name = buffer_.data() + at + sizeof event;
      notice.written = (event.mask & IN_MODIFY) != 0;
      notice.gone = (event.mask & (IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT)) != 0;
      notice.overflow = (event.mask & IN_Q_OVERFLOW) != 0;
      visit(notice);
      at += sizeof event + event.len;
    }
    return static_cast<std::size_t>(size) + 4096 > buffer_.size();
  }

 private:
  int descriptor_;
  std::vector<char> buffer_;
};

class BlindWatcher final : public Watcher {
 public:
  int fd() const override { return -1; }
  Outcome<int> watch(const std::string&, bool) override { return std::unexpected(ENOSYS); }
  void unwatch(int) override {}
  bool read(const std::function<void(const Notice&)>&) override { return false; }
};

}  // namespace

Outcome<std::unique_ptr<Watcher>> make_inotify_watcher() {
  const int descriptor = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (descriptor < 0) return std::unexpected(errno);
  return std::make_unique<InotifyWatcher>(descriptor);
}

std::unique_ptr<Watcher> make_blind_watcher() {
  return std::make_unique<BlindWatcher>();
}

}  // namespace l4::tail
