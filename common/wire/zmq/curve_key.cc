#include "common/wire/zmq/curve_key.h"

#include <array>
#include <cstdint>
#include <zmq.hpp>

namespace l4::wire {
namespace {

constexpr std::size_t kCharacters = 40, kBytes = 32;
using Text = std::array<char, kCharacters + 1>;

}  // namespace

Result<KeyPair> make_key_pair() {
  Text public_key{}, secret_key{};
  if (zmq_curve_keypair(public_key.data(), secret_key.data()) != 0)
    return std::unexpected(Error{"", "libzmq was built without CURVE"});
  return KeyPair{public_key.data(), secret_key.data()};
}

std::string public_key_of(const std::string& secret_key) {
  Text public_key{};
  if (!is_curve_key(secret_key)) return {};
  if (zmq_curve_public(public_key.data(), secret_key.c_str()) != 0) return {};
  return public_key.data();
}

bool is_curve_key(std::string_view text) {
  if (text.size() != kCharacters) return false;
  constexpr std::string_view kZ85 =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
  if (text.find_first_not_of(kZ85) != text.npos) return false;
  std::array<std::uint8_t, kBytes> bytes{};
  return zmq_z85_decode(bytes.data(), std::string(text).c_str()) != nullptr;
}

}  // namespace l4::wire
