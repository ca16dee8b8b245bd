// A folder under the system's temporary one that goes away with its test.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace l4::test {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "l4_test_XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path file(const std::string& name, std::string_view content = "a line\n") const {
    const auto full = path_ / name;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream{full, std::ios::binary} << content;
    return full;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace l4::test
