// Captures standard error as long as it lives.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tests/temp_folder.h"

namespace l4::test {

class CapturedStderr {
 public:
  CapturedStderr() : before_(::dup(STDERR_FILENO)) {
    const int file = ::open(folder_.file("err", "").c_str(), O_WRONLY | O_APPEND);
    ::dup2(file, STDERR_FILENO);
    ::close(file);
  }
  ~CapturedStderr() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
  }
  CapturedStderr(const CapturedStderr&) = delete;
  CapturedStderr& operator=(const CapturedStderr&) = delete;

  std::string text() const {
    std::ifstream in(folder_.path() / "err");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t count(const std::string& words) const {
    const std::string all = text();
    std::size_t times = 0;
    for (auto at = all.find(words); at != std::string::npos; at = all.find(words, at + 1)) ++times;
    return times;
  }

 private:
  TempFolder folder_;
  int before_;
};

}  // namespace l4::test
