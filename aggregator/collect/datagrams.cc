#include "aggregator/collect/datagrams.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "common/sockets/listen_address.h"

namespace l4::collect {
namespace {

template <class T>
T copied(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

flows::Address address_of(const sockaddr_storage& from) {
  if (from.ss_family == AF_INET)
    return flows::Address::of_ipv4(ntohl(copied<sockaddr_in>(&from).sin_addr.s_addr));
  const auto six = copied<sockaddr_in6>(&from);
  flows::Address address;
  for (std::size_t i = 0; i < 8; ++i) {
    address.high = address.high << 8 | six.sin6_addr.s6_addr[i];
    address.low = address.low << 8 | six.sin6_addr.s6_addr[i + 8];
  }
  return address;
}

/// The buffer that the kernel grants. With CAP_NET_ADMIN it is not limited by rmem_max.
std::size_t set_buffer(int socket, std::size_t bytes) {
  const int asked = static_cast<int>(std::min<std::size_t>(bytes, 1 << 30));
  if (::setsockopt(socket, SOL_SOCKET, SO_RCVBUFFORCE, &asked, sizeof asked) != 0)
    static_cast<void>(::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &asked, sizeof asked));
  int granted = 0;
  socklen_t size = sizeof granted;
  if (::getsockopt(socket, SOL_SOCKET, SO_RCVBUF, &granted, &size) != 0) return 0;
  return static_cast<std::size_t>(granted) / 2;  // the kernel doubles it for its own use
}

}  // namespace

/// What recvmmsg fills.
struct Datagrams::Batch {
  std::vector<char> bytes = std::vector<char>(kAtOnce * kBytesMax);
  std::array<sockaddr_storage, kAtOnce> from{};
  std::array<std::array<char, 64>, kAtOnce> control{};
  std::array<iovec, kAtOnce> parts{};
  std::array<mmsghdr, kAtOnce> messages{};

  void reset() {
    for (std::size_t i = 0; i < kAtOnce; ++i) {
      parts.at(i) = {bytes.data() + i * kBytesMax, kBytesMax};
      msghdr& header = messages.at(i).msg_hdr;
      header = {};
      header.msg_name = &from.at(i);
      header.msg_namelen = sizeof from.at(i);
      header.msg_iov = &parts.at(i);
      header.msg_iovlen = 1;
      header.msg_control = control.at(i).data();
      header.msg_controllen = control.at(i).size();
    }
  }
};

Datagrams::Datagrams(int socket, int bell)
    : socket_(socket), bell_(bell), batch_(std::make_shared<Batch>()) {}

Result<std::unique_ptr<Datagrams>> Datagrams::open(const std::string& address,
                                                   std::size_t buffer_bytes) {
  const sockets::Addresses found = sockets::read_listen_address(address, SOCK_DGRAM);
  if (!found) return std::unexpected(Error{address, "is no ADDRESS:PORT to listen at"});
  std::unique_ptr<Datagrams> made(new Datagrams(
      ::socket(found->ai_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_UDP),
      ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)));
  const int socket = made->socket_.number(), yes = 1;
  if (socket < 0 || made->bell_.number() < 0 ||
      ::bind(socket, found->ai_addr, found->ai_addrlen) != 0 ||
      ::setsockopt(socket, SOL_SOCKET, SO_RXQ_OVFL, &yes, sizeof yes) != 0)
    return std::unexpected(
        Error{address, fmt::format("flow records cannot be received: {}; set [flows] listen to an "
                                   "address and port of this host that are free",
                                   std::strerror(errno))});
  made->port_ = sockets::port_of(socket);
  made->buffer_bytes_ = set_buffer(socket, buffer_bytes);
  return made;
}

void Datagrams::wake() {
  const std::uint64_t one = 1;
  static_cast<void>(::write(bell_.number(), &one, sizeof one));
}

bool Datagrams::take(Millis most, const Take& take) {
  constexpr int kRounds = 64;  // then others have their turn
  std::array<pollfd, 2> waits{pollfd{socket_.number(), POLLIN, 0},
                              pollfd{bell_.number(), POLLIN, 0}};
  static_cast<void>(::poll(waits.data(), waits.size(), static_cast<int>(most.count())));
  std::uint64_t rings = 0;
  if (waits[1].revents != 0) static_cast<void>(::read(bell_.number(), &rings, sizeof rings));
  for (int round = 0; round < kRounds; ++round)
    if (!take_some(take)) return true;
  return false;
}

/// False: none was there.
bool Datagrams::take_some(const Take& take) {
  batch_->reset();
  const int count =
      ::recvmmsg(socket_.number(), batch_->messages.data(), kAtOnce, MSG_DONTWAIT, nullptr);
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    msghdr& header = batch_->messages.at(at).msg_hdr;
    for (const cmsghdr* one = CMSG_FIRSTHDR(&header); one != nullptr;
         one = CMSG_NXTHDR(&header, const_cast<cmsghdr*>(one)))  // NOLINT: a macro of C
      if (one->cmsg_level == SOL_SOCKET && one->cmsg_type == SO_RXQ_OVFL)
        dropped_ = copied<std::uint32_t>(CMSG_DATA(one));
    if ((header.msg_flags & MSG_TRUNC) != 0) {
      ++cut_;
      continue;
    }
    take(address_of(batch_->from.at(at)),
         {batch_->bytes.data() + at * kBytesMax, batch_->messages.at(at).msg_len});
  }
  return count == static_cast<int>(kAtOnce);
}

}  // namespace l4::collect
