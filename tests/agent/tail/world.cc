#include "tests/agent/tail/world.h"

#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <utility>

namespace l4::tail {
namespace {

namespace fs = std::filesystem;

std::string gzip(const std::string& text) {
  z_stream stream{};
  if (deflateInit2(&stream, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("zlib");
  std::string input = text, out(text.size() + 1024, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

class FakeFile final : public File {
 public:
  FakeFile(std::shared_ptr<FakeDisk::Inode> inode, FakeDisk& disk)
      : inode_(std::move(inode)), disk_(disk) {
    ++disk_.open_files;
  }
  ~FakeFile() override { --disk_.open_files; }
  FakeFile(const FakeFile&) = delete;
  FakeFile& operator=(const FakeFile&) = delete;

  Outcome<Status> status() override {
    if (disk_.meanwhile) disk_.meanwhile();
    return Status{Status::Kind::file, 1, inode_->number, inode_->bytes.size(), inode_->links,
                  inode_->modified};
  }
  Outcome<std::size_t> read(std::uint64_t offset, std::span<char> buffer) override {
    if (disk_.meanwhile) disk_.meanwhile();
    if (disk_.read_error != 0) return std::unexpected(disk_.read_error);
    if (offset >= inode_->bytes.size()) return std::size_t{0};
    const std::size_t n = std::min(buffer.size(), inode_->bytes.size() - offset);
    std::memcpy(buffer.data(), inode_->bytes.data() + offset, n);
    return n;
  }

 private:
  std::shared_ptr<FakeDisk::Inode> inode_;
  FakeDisk& disk_;
};

class FakeWatcher final : public Watcher {
 public:
  explicit FakeWatcher(FakeDisk& disk) : disk_(disk) { disk_.notes.clear(); }
  int fd() const override { return 77; }
  Outcome<int> watch(const std::string&, bool) override { return 1; }
  void unwatch(int) override {}
  bool read(const std::function<void(const Notice&)>& visit) override {
    if (disk_.overflow) visit({-1, "", false, false, true});
    disk_.overflow = false;
    for (const auto& note : disk_.notes) visit({1, note.name, note.written, false, false});
    disk_.notes.clear();
    return false;
  }

 private:
  FakeDisk& disk_;
};

}  // namespace

std::shared_ptr<FakeDisk::Inode> FakeDisk::make(const std::string& path) {
  std::uint64_t number = next_;
  if (free_->empty()) {
    ++next_;
  } else {
    number = *free_->begin();
    free_->erase(free_->begin());
  }
  auto made = std::shared_ptr<Inode>(new Inode{number, 1, {}, now}, [free = free_](Inode* gone) {
    free->insert(gone->number);
    delete gone;
  });
  names_[path] = made;
  note(path, false);
  return made;
}

void FakeDisk::note(const std::string& path, bool written) {
  if (!lose_notices) notes.push_back({path.substr(path.rfind('/') + 1), written});
}

void FakeDisk::append(const std::string& path, const std::string& bytes) {
  const auto at = names_.find(path);
  const auto inode = at == names_.end() ? make(path) : at->second;
  inode->bytes += bytes;
  inode->modified = now;
  note(path, true);
}

void FakeDisk::write_new(const std::string& path, const std::string& bytes) {
  if (names_.contains(path)) remove(path);
  append(path, bytes);
}

void FakeDisk::rename(const std::string& from, const std::string& to) {
  if (names_.contains(to)) remove(to);
  auto node = names_.extract(from);
  node.key() = to;
  names_.insert(std::move(node));
  note(from, false);
  note(to, false);
}

void FakeDisk::cut(const std::string& path, std::size_t bytes) {
  names_.at(path)->bytes.resize(bytes);
  names_.at(path)->modified = now;
  note(path, true);
}

void FakeDisk::remove(const std::string& path) {
  names_.at(path)->links = 0;
  names_.erase(path);
  note(path, false);
}

int FakeDisk::refusal(const std::string& path) {
  if (meanwhile) meanwhile();
  const auto at = refused.find(path);
  return at == refused.end() ? 0 : at->second;
}

Outcome<std::vector<std::string>> FakeDisk::list(const std::string& folder) {
  if (const int error = refusal(folder)) return std::unexpected(error);
  std::vector<std::string> names;
  for (const auto& [path, inode] : names_)
    if (path.starts_with(folder + "/")) names.push_back(path.substr(folder.size() + 1));
  return names;
}

Outcome<Status> FakeDisk::status(const std::string& path, bool) {
  const auto at = names_.find(path);
  if (at != names_.end())
    return Status{Status::Kind::file,       1, at->second->number,
                  at->second->bytes.size(), 1, at->second->modified};
  if (path == "/logs") return Status{Status::Kind::folder, 1, 2, 0, 1, now};
  return std::unexpected(ENOENT);
}

Outcome<std::unique_ptr<File>> FakeDisk::open(const std::string& path) {
  const auto at = names_.find(path);
  if (at == names_.end()) return std::unexpected(ENOENT);
  if (const int error = refusal(path)) return std::unexpected(error);
  if (open_files >= open_most) return std::unexpected(EMFILE);
  return std::make_unique<FakeFile>(at->second, *this);
}

std::unique_ptr<Watcher> FakeDisk::watcher() {
  return std::make_unique<FakeWatcher>(*this);
}

namespace {

/// Lets the clock of the file system tick: files written between two ticks have one time, and then
/// nothing tells which of them is the older once a name is gone.
void let_clock_tick() {
  const auto now = [] {
    timespec time{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &time);
    return std::pair(time.tv_sec, time.tv_nsec);
  };
  const auto before = now();
  while (now() == before) std::this_thread::sleep_for(std::chrono::microseconds{500});
}

}  // namespace

void RealDisk::append(const std::string& path, const std::string& bytes) {
  if (!fs::exists(path)) let_clock_tick();
  std::ofstream{path, std::ios::app | std::ios::binary} << bytes;
}
void RealDisk::write_new(const std::string& path, const std::string& bytes) {
  fs::remove(path);
  append(path, bytes);
}
void RealDisk::rename(const std::string& from, const std::string& to) {
  fs::rename(from, to);
}
void RealDisk::cut(const std::string& path, std::size_t bytes) {
  fs::resize_file(path, bytes);
}
void RealDisk::remove(const std::string& path) {
  fs::remove(path);
  let_clock_tick();
}
void RealDisk::copy_time(const std::string& from, const std::string& to) {
  fs::last_write_time(to, fs::last_write_time(from));
}
std::uint64_t RealDisk::inode(const std::string& path) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) throw std::runtime_error("no such file: " + path);
  return found.st_ino;
}

void World::append(const std::string& name, const std::string& text) {
  const bool made = names_.insert(name).second;
  disk_.append(path(name), text);
  Content& content = inodes_[disk_.inode(path(name))];
  if (made) content = {};
  content.text += text;
  for (std::size_t i = 0; i < text.size(); ++i) content.numbers.push_back(next_++);
}

void World::rename(const std::string& from, const std::string& to) {
  disk_.rename(path(from), path(to));
  names_.erase(from);
  names_.insert(to);
}

void World::copy(const std::string& from, const std::string& to) {
  const Content content = of(from);
  disk_.write_new(path(to), content.text);
  names_.insert(to);
  inodes_[disk_.inode(path(to))] = content;
}

void World::cut(const std::string& name, std::size_t bytes) {
  disk_.cut(path(name), bytes);
  Content& content = inodes_[disk_.inode(path(name))];
  content.text.resize(bytes);
  content.numbers.resize(bytes);
}

void World::remove(const std::string& name) {
  disk_.remove(path(name));
  names_.erase(name);
}

void World::pack(const std::string& from, const std::string& to) {
  const Content content = of(from);
  disk_.write_new(path(to), gzip(content.text));
  names_.insert(to);
  inodes_[disk_.inode(path(to))] = content;
  disk_.copy_time(path(from), path(to));
  remove(from);
}

}  // namespace l4::tail
