// The known faults of a running aggregator: the shipped ones, and those confirmed while it runs.
// Flow: api -> confirm() or drop() -> this thread: the incident's report out of the database, a
// proposal (confirmation.h), the shards asked for what healthy jobs print, the verdict, the file
// (confirmed_faults.h), then a new Library in place of the old one and `published`. A shard asks
// for library() at each diagnosis and keeps it for as long as the diagnosis lasts: a library never
// changes. A fault is durable before it is answered as stored. One thread of its own; the public
// calls are for any thread. Bounds: kWaitingMax requests at a time; kIncidentsMax past incidents
// compared.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "aggregator/confirm/confirmation.h"
#include "aggregator/confirm/confirmed_faults.h"
#include "aggregator/store/database.h"
#include "common/base/bounded_queue.h"
#include "common/base/mutex.h"

namespace l4::confirm {

class FaultBook {
 public:
  static constexpr std::size_t kWaitingMax = 8, kIncidentsMax = 200;

  using LibraryPointer = std::shared_ptr<const faults::Library>;
  template <class T>
  using Then = std::function<void(std::expected<T, Refused>)>;

  /// Functions given from outside; all are called on the book's thread.
  struct Hooks {
    std::function<void(const std::string&)> say, warn;
    std::function<TimeMs()> now;
    /// Asks all shards; `then` is called once, on any thread, and destroyed before the book ends.
    /// False: too much waits.
    std::function<bool(scoring::NormalQuestion, std::function<void(scoring::NormalLines)> then)>
        ask_normal = {};
    std::function<void()> published = {};  ///< called when the library has changed
  };

  /// `shipped` may be null: none. Reads the confirmed faults; an unreadable one is a warning.
  FaultBook(LibraryPointer shipped, store::Path folder, store::Files& files,
            store::Database& database, Hooks hooks);
  ~FaultBook();
  FaultBook(const FaultBook&) = delete;
  FaultBook& operator=(const FaultBook&) = delete;

  LibraryPointer library() const;

  // False: too much waits, and `then` is never called. Otherwise `then` is called once, on this
  // thread, unless the book is stopped before.
  bool confirm(ConfirmRequest request, Then<Confirmed> then);
  bool drop(std::string id, std::string who, Then<faults::Fault> then);

  /// Accepts no more requests, gives up those under way, and waits for the thread.
  void stop();

 private:
  using Task = std::function<void()>;
  struct Turn;  ///< one of the kWaitingMax requests that may be under way

  std::shared_ptr<Turn> acquire_turn();
  void run();
  void publish();
  void begin(const std::shared_ptr<Turn>& turn, const ConfirmRequest& request,
             const Then<Confirmed>& then);
  void end(const ConfirmRequest& request, Confirmed proposed, scoring::NormalLines normal,
           const Then<Confirmed>& then);
  std::expected<diagnose::Report, Refused> report_of(const std::string& incident);
  void check_past_incidents(const ConfirmRequest& request, Confirmed& proposed);
  std::expected<faults::Fault, Refused> remove(const std::string& id, const std::string& who);

  const LibraryPointer shipped_;
  ConfirmedFaults confirmed_;  ///< used by the thread alone, once it runs
  store::Database& database_;
  const Hooks hooks_;
  mutable Mutex mutex_;
  LibraryPointer library_ L4_GUARDED_BY(mutex_);
  std::atomic<std::size_t> turns_{0};
  BoundedQueue<Task> queue_;
  std::jthread thread_;
};

}  // namespace l4::confirm
