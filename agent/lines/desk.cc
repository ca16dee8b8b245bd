#include "agent/lines/desk.h"

#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <deque>
#include <utility>

#include "agent/lines/read_lines.h"
#include "common/base/check.h"
#include "common/base/mutex.h"
#include "common/base/thread.h"

namespace l4::lines {
namespace {

constexpr int kNice = 10;  // tailing goes first

Millis steady_now() {
  return std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace

struct Desk::State {
  explicit State(tail::FileSystem& given)
      : files(given), event(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  ~State() {
    if (event >= 0) ::close(event);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void run(const std::stop_token& stop) L4_EXCLUDES(mutex) {
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice);
    for (;;) {
      MutexLock lock(mutex);
      if (!work.wait(lock, stop, [this]() L4_REQUIRES(mutex) { return !tasks.empty(); })) return;
      const Task task = std::move(tasks.front());
      tasks.pop_front();
      reads = true;
      const std::uint64_t own_round = round;
      lock.unlock();
      const auto given_up = [&] {
        const MutexLock inner(mutex);
        return stop.stop_requested() || round != own_round;
      };
      Done answer{task.number, read_lines(task, files, steady_now, given_up)};
      L4_CHECK(!answer.parts.empty(), "question {} has an answer without parts", task.number);
      lock.lock();
      reads = false;
      if (round != own_round) continue;
      done.push_back(std::move(answer));
      const std::uint64_t one = 1;
      if (event >= 0 && ::write(event, &one, sizeof one) < 0) {
        // A failed write means that the descriptor is readable already.
      }
    }
  }

  tail::FileSystem& files;
  const int event;
  mutable Mutex mutex;
  CondVar work;
  std::deque<Task> tasks L4_GUARDED_BY(mutex);
  std::deque<Done> done L4_GUARDED_BY(mutex);
  std::uint64_t round L4_GUARDED_BY(mutex) = 0;  // counts drop_all()
  bool reads L4_GUARDED_BY(mutex) = false;       // it reads for a task, which is in neither queue
  std::jthread thread;                           // last member: it ends first
};

Desk::Desk(tail::FileSystem& files) : state_(std::make_unique<State>(files)) {}
Desk::~Desk() = default;

bool Desk::submit(Task task) {
  State& state = *state_;
  const MutexLock lock(state.mutex);
  if (state.tasks.size() + state.done.size() >= kWaitingMax) return false;
  state.tasks.push_back(std::move(task));
  if (!state.thread.joinable())
    state.thread =
        start_thread("l4-lines", [&state](const std::stop_token& stop) { state.run(stop); });
  state.work.notify_one();
  return true;
}

std::optional<Done> Desk::poll() {
  State& state = *state_;
  const MutexLock lock(state.mutex);
  std::optional<Done> done;
  if (!state.done.empty()) {
    done = std::move(state.done.front());
    state.done.pop_front();
  }
  std::uint64_t count = 0;
  if (state.done.empty() && state.event >= 0 && ::read(state.event, &count, sizeof count) < 0)
    count = 0;  // the descriptor was not readable
  return done;
}

void Desk::drop_all() {
  State& state = *state_;
  const MutexLock lock(state.mutex);
  ++state.round;
  state.tasks.clear();
  state.done.clear();
}

bool Desk::works() const {
  const MutexLock lock(state_->mutex);
  return state_->reads || !state_->tasks.empty() || !state_->done.empty();
}

int Desk::descriptor() const {
  return state_->event;
}

}  // namespace l4::lines
