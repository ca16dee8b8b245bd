// Datagrams of flow exporters from one UDP socket.
//
// Place in the flow: the network -> Datagrams -> FlowCollector. Many are taken by one system call,
// into memory that is reused. The kernel says how many it has dropped because nobody took them in
// time. One owner, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/flows/address.h"
#include "common/base/descriptor.h"
#include "common/base/error.h"
#include "common/base/time.h"

namespace l4::collect {

class Datagrams {
 public:
  static constexpr std::size_t kAtOnce = 32, kBytesMax = 1 << 16;

  using Take = std::function<void(const flows::Address& from, std::string_view bytes)>;

  /// Listens at ADDRESS:PORT; port 0: any that is free. `buffer_bytes` is what the kernel is asked
  /// to hold. Error: the address is not of this host, or taken.
  static Result<std::unique_ptr<Datagrams>> open(const std::string& address,
                                                 std::size_t buffer_bytes);

  /// Waits for datagrams, at most `most`, or until wake(); hands over those that are there, or many
  /// of them. True: no more were there.
  bool take(Millis most, const Take& take);
  /// Ends the wait. Any thread.
  void wake();

  std::uint16_t port() const { return port_; }
  /// What the kernel holds: it may grant less than it was asked for.
  std::size_t buffer_bytes() const { return buffer_bytes_; }
  std::uint64_t dropped() const { return dropped_; }  ///< by the kernel
  std::uint64_t cut() const { return cut_; }          ///< longer than kBytesMax

 private:
  struct Batch;
  Datagrams(int socket, int bell);
  bool take_some(const Take& take);

  Descriptor socket_, bell_;
  std::uint16_t port_ = 0;
  std::size_t buffer_bytes_ = 0;
  std::uint64_t dropped_ = 0, cut_ = 0;
  std::shared_ptr<Batch> batch_;
};

}  // namespace l4::collect
