#include "common/sockets/listen_address.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

namespace l4::sockets {

Addresses read_listen_address(std::string_view text, int type) {
  Addresses none(nullptr, &::freeaddrinfo);
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size()) return none;
  std::string host(text.substr(0, colon));
  const std::string port(text.substr(colon + 1));
  const bool bracketed = host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (bracketed != (host.find(':') != std::string::npos)) return none;
  if (port.size() > 5 || port.find_first_not_of("0123456789") != std::string::npos) return none;
  if (std::stoi(port) > 65'535) return none;
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = type;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  if (::getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return none;
  return {found, &::freeaddrinfo};
}

bool is_listen_address(std::string_view text) {
  return read_listen_address(text, SOCK_STREAM) != nullptr;
}

std::uint16_t port_of(int socket) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&name), &size) != 0) return 0;
  const in_port_t port = name.ss_family == AF_INET6
                             ? reinterpret_cast<const sockaddr_in6*>(&name)->sin6_port
                             : reinterpret_cast<const sockaddr_in*>(&name)->sin_port;
  return ntohs(port);
}

}  // namespace l4::sockets
