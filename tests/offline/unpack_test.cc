// Archives of logs, and hostile archives. All are made with libarchive's writer.
#include "offline/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <doctest/doctest.h>
#include <cstdlib>

#include <fstream>
#include <sstream>
#include <string>

namespace l4::offline {
namespace {

namespace fs = std::filesystem;

/// A folder with an archive in it, and a place to unpack to.
class Case {
 public:
  Case() {
    std::string pattern = (fs::temp_directory_path() / "l4_unpack_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    writer_ = archive_write_new();
    archive_write_set_format_pax_restricted(writer_);
    archive_write_add_filter_gzip(writer_);
    archive_write_open_filename(writer_, file().c_str());
  }
  ~Case() {
    close();
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  void add(const std::string& name, const std::string& content, unsigned type = AE_IFREG,
           const std::string& link = {}) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_filetype(entry, type);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_mtime(entry, 1'700'000'000, 0);
    if (type == AE_IFREG) archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
    if (type == AE_IFLNK) archive_entry_set_symlink(entry, link.c_str());
    if (type == AE_IFREG && !link.empty()) archive_entry_set_hardlink(entry, link.c_str());
    archive_write_header(writer_, entry);
    if (type == AE_IFREG) archive_write_data(writer_, content.data(), content.size());
    archive_entry_free(entry);
  }
  void close() {
    if (writer_ != nullptr) archive_write_free(writer_);
    writer_ = nullptr;
  }
  Result<void> unpack(std::uint64_t bytes_max = 1 << 20) {
    close();
    std::atomic<std::uint64_t> bytes_done{0};
    return offline::unpack(file(), "job.tar.gz", to(), {bytes_max, 100}, warnings, bytes_done);
  }
  fs::path file() const { return folder_ / "job.tar.gz"; }
  fs::path to() const { return folder_ / "out"; }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(to() / name).rdbuf();
    return text.str();
  }
  std::size_t files() const {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder_))
      count += entry.is_regular_file();
    return count - 1;  // the archive
  }

  std::vector<wire::Warning> warnings;

 private:
  fs::path folder_;
  archive* writer_ = nullptr;
};

TEST_CASE("unpack: files come out with content and time") {
  Case made;
  made.add("./node-00/rank0.log", "a line\n");
  made.add("node-01/rank1.log", "another\n");
  REQUIRE(made.unpack());
  CHECK(made.read("node-00/rank0.log") == "a line\n");
  CHECK(made.read("node-01/rank1.log") == "another\n");
  const auto age = fs::last_write_time(made.to() / "node-01/rank1.log");
  CHECK(std::chrono::file_clock::to_sys(age).time_since_epoch() ==
        std::chrono::seconds(1'700'000'000));
  CHECK(made.warnings.empty());
  CHECK(begins_like_archive(made.file()));
}

TEST_CASE("unpack: nothing gets out of the folder, and what is no log is left out") {
  Case made;
  made.add("../escape.log", "x\n");
  made.add("node/../../escape.log", "x\n");
  made.add("/node/absolute.log", "x\n");
  made.add("node/link", "", AE_IFLNK, "/etc");
  made.add("node/link/passwd.log", "x\n");
  made.add("node/device", "", AE_IFCHR);
  made.add("node/pipe", "", AE_IFIFO);
  made.add("node/model.pt", "weights");
  REQUIRE(made.unpack());
  CHECK(made.files() == 2);
  CHECK(made.read("node/absolute.log") == "x\n");
  CHECK(made.read("node/link/passwd.log") == "x\n");
  CHECK(made.warnings.size() == 4);
}

TEST_CASE("unpack: the newer of two members with one name stands") {
  Case made;
  made.add("a.log", "old\n");
  made.add("a.log", "new\n");
  REQUIRE(made.unpack());
  CHECK(made.read("a.log") == "new\n");
}

TEST_CASE("unpack: more than the limit is refused") {
  Case made;
  made.add("a.log", std::string(600'000, 'x'));
  made.add("b.log", std::string(600'000, 'x'));
  const auto done = made.unpack(1'000'000);
  REQUIRE_FALSE(done);
  CHECK(done.error().reason.find("archive.bytes_max") != std::string::npos);
}

TEST_CASE("unpack: a damaged archive gives what stands before the damage") {
  Case made;
  made.add("a.log", "first\n");
  std::string noise;
  for (unsigned i = 0; i < 200'000; ++i) noise += static_cast<char>((i * i * 2654435761u) >> 13);
  made.add("b.log", noise);
  made.close();
  fs::resize_file(made.file(), fs::file_size(made.file()) / 2);
  REQUIRE(made.unpack());
  CHECK(made.read("a.log") == "first\n");
  CHECK_FALSE(made.warnings.empty());
}

TEST_CASE("unpack: what is no archive is said so") {
  Case made;
  made.close();
  std::ofstream(made.file()) << "2026-11-20T15:54:21Z a line of text\n";
  CHECK_FALSE(begins_like_archive(made.file()));
  CHECK_FALSE(made.unpack());
  CHECK(named_like_archive("logs.tgz"));
  CHECK_FALSE(named_like_archive("rank0.log.gz"));
}

}  // namespace
}  // namespace l4::offline
