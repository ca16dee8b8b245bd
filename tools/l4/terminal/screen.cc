#include "tools/l4/terminal/screen.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <utility>

#include "common/base/descriptor.h"

namespace l4::terminal {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l", kLeave = "\x1b[?25h\x1b[?1049l";

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written <= 0) return;  // a terminal that is gone ends us by SIGHUP
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

sigset_t wanted_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH})
    sigaddset(&set, signal);
  return set;
}

}  // namespace

struct Screen::Saved {
  termios keys{};
  bool has_keys = false;
  sigset_t signals{};
  Descriptor arrived;

  explicit Saved(int descriptor) : arrived(descriptor) {}
};

std::unique_ptr<Screen> Screen::make() {
  if (::isatty(STDOUT_FILENO) == 0) return nullptr;
  const sigset_t set = wanted_signals();
  auto saved = std::make_unique<Saved>(::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
  if (saved->arrived.number() < 0) return nullptr;
  ::sigprocmask(SIG_BLOCK, &set, &saved->signals);
  saved->has_keys = ::tcgetattr(STDIN_FILENO, &saved->keys) == 0;
  if (saved->has_keys) {
    termios quiet = saved->keys;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &quiet);
  }
  write_all(kEnter);
  return std::unique_ptr<Screen>(new Screen(std::move(saved)));
}

Screen::Screen(std::unique_ptr<Saved> saved) : saved_(std::move(saved)) {}

Screen::~Screen() {
  write_all(kLeave);
  if (saved_->has_keys) ::tcsetattr(STDIN_FILENO, TCSANOW, &saved_->keys);
  // Takes the waiting signals, which would end the program once they are let through.
  signalfd_siginfo taken;
  while (::read(saved_->arrived.number(), &taken, sizeof taken) > 0) {
  }
  ::sigprocmask(SIG_SETMASK, &saved_->signals, nullptr);
}

std::size_t Screen::height() const {
  constexpr std::size_t kUnknown = 24;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return kUnknown;
  return size.ws_row;
}

void Screen::draw(std::string_view text) {
  const std::size_t room = height();
  const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  const std::size_t shown = lines <= room ? lines : room - 1;
  std::string page = "\x1b[H";
  for (std::size_t i = 0; i < shown; ++i) {
    const std::size_t end = text.find('\n');
    page += text.substr(0, end);
    page += "\x1b[K";
    if (i + 1 < room) page += "\r\n";
    text.remove_prefix(end + 1);
  }
  if (shown < lines) page += fmt::format("... {} more lines\x1b[K", lines - shown);
  write_all(page + "\x1b[J");
}

Screen::Next Screen::wait(Millis most) {
  pollfd watched[] = {{saved_->arrived.number(), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
  const nfds_t count = saved_->has_keys ? 2 : 1;
  if (::poll(watched, count, static_cast<int>(most.count())) <= 0) return Next::again;
  if (count == 2 && watched[1].revents != 0) {
    char key = 0;
    if (::read(STDIN_FILENO, &key, 1) != 1) return Next::end;
    return key == 'q' || key == 'Q' ? Next::end : Next::again;
  }
  signalfd_siginfo signal{};
  if (::read(saved_->arrived.number(), &signal, sizeof signal) != sizeof signal) return Next::again;
  return signal.ssi_signo == SIGWINCH ? Next::again : Next::end;
}

}  // namespace l4::terminal
