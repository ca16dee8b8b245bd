#include "common/wire/zmq/authenticator.h"

#include <array>
#include <vector>
#include <zmq.hpp>

namespace l4::wire {
namespace {

constexpr std::size_t kKeyBytes = 32, kFramesMax = 16;

/// All frames of the next question; empty if no question waits.
std::vector<std::string> read(Socket& socket) {
  std::vector<std::string> frames;
  zmq::message_t frame;
  for (bool more = true; more && socket.receive(frame); more = frame.more())
    if (frames.size() < kFramesMax) frames.push_back(frame.to_string());
  return frames;
}

void answer(void* socket, const std::string& request, bool allowed, const std::string& user_id) {
  const std::array<std::string, 6> frames{
      "1.0",   request, allowed ? "200" : "400", allowed ? "OK" : "not in the allow list",
      user_id, ""};
  for (std::size_t i = 0; i < frames.size(); ++i)
    zmq_send(socket, frames[i].data(), frames[i].size(),
             ZMQ_DONTWAIT | (i + 1 < frames.size() ? ZMQ_SNDMORE : 0));
}

}  // namespace

Result<void> Authenticator::open(const ZmqContext& context) {
  socket_ = Socket(context, ZMQ_REP);
  if (!socket_ || zmq_bind(socket_.handle(), "inproc://zeromq.zap.01") != 0)
    return std::unexpected(Error{"authentication", last_error()});
  socket_.set(ZMQ_LINGER, 0);
  return {};
}

void Authenticator::serve(
    const AllowList& list, const std::function<void(Refused)>& refused,
    const std::function<void(const std::string& address, bool allowed)>& judged) {
  for (auto frames = read(socket_); !frames.empty(); frames = read(socket_)) {
    // version, request, domain, address, identity, mechanism, credentials
    const bool asked = frames.size() == 7 && frames[5] == "CURVE" && frames[6].size() == kKeyBytes;
    std::array<char, 41> key{};
    if (asked)
      zmq_z85_encode(key.data(), reinterpret_cast<const std::uint8_t*>(frames[6].data()),
                     kKeyBytes);
    const std::string* name = asked ? list.name_of(key.data()) : nullptr;
    const std::string request = frames.size() > 1 ? frames[1] : std::string();
    answer(socket_.handle(), request, name != nullptr,
           name != nullptr ? user_id(*name, key.data()) : std::string());
    const std::string address = plain_address(frames.size() > 3 ? frames[3] : std::string());
    judged(address, name != nullptr);
    if (name == nullptr)
      refused({Refusal::wrong_key, address, asked ? std::string(key.data()) : std::string()});
  }
}

}  // namespace l4::wire
