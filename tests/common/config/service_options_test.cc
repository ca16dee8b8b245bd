#include "common/config/service_options.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace l4 {
namespace {

constexpr Service kService{"l4-some", "1.2.3", "usage: l4-some --config FILE\n"};

ServiceOptions read(std::vector<std::string> words, std::filesystem::path config = {}) {
  words.insert(words.begin(), "/usr/bin/l4-some");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return read_service_options(static_cast<int>(words.size()), argv.data(), kService,
                              std::move(config));
}

TEST_CASE("both ways of writing a value are read, in any order") {
  for (const auto& words : {std::vector<std::string>{"--config", "a.toml", "--check-config"},
                            std::vector<std::string>{"--check-config", "--config=a.toml"}}) {
    const ServiceOptions options = read(words);
    CHECK_FALSE(options.exit);
    CHECK(options.config == "a.toml");
    CHECK(options.check_only);
  }
}

TEST_CASE("the default config holds where none is given, and none is no use without a default") {
  CHECK(read({}, "/etc/l4/some.toml").config == "/etc/l4/some.toml");
  CHECK_FALSE(read({}, "/etc/l4/some.toml").check_only);
  CHECK(read({"--config", "b.toml"}, "/etc/l4/some.toml").config == "b.toml");
  CHECK(read({}).exit == 2);
  CHECK(read({"--check-config"}).exit == 2);
}

TEST_CASE("help and version end with 0, wrong use with 2") {
  CHECK(read({"--help"}).exit == 0);
  CHECK(read({"-h"}).exit == 0);
  CHECK(read({"--version"}).exit == 0);
  for (const char* word : {"--confg=a.toml", "-x", "--config", "job.log", "--version=2"})
    CHECK_MESSAGE(read({word}, "/etc/l4/some.toml").exit == 2, word);
}

}  // namespace
}  // namespace l4
