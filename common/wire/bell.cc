#include "common/wire/bell.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace l4::wire {

Bell::Bell() : file_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

Bell::~Bell() {
  ::close(file_);
}

void Bell::ring() {
  const std::uint64_t one = 1;
  // A full counter also wakes the reader.
  [[maybe_unused]] const auto done = ::write(file_, &one, sizeof one);
}

void Bell::quiet() {
  std::uint64_t rung = 0;
  [[maybe_unused]] const auto done = ::read(file_, &rung, sizeof rung);
}

}  // namespace l4::wire
