#include "tests/aggregator/store/model_files.h"

#include <algorithm>
#include <cstdlib>

namespace l4::store::test {

using Guard = std::lock_guard<std::recursive_mutex>;

namespace {

std::unexpected<Error> failed(const Path& path, const char* why = "injected") {
  return std::unexpected(Error{path.string(), why});
}

}  // namespace

std::uint64_t lives(std::uint64_t usual) {
  const char* times = std::getenv("L4_STORE_LIVES");
  return times != nullptr ? usual * static_cast<std::uint64_t>(std::atoi(times)) : usual;
}

class ModelFile : public File {
 public:
  ModelFile(ModelFiles& files, std::shared_ptr<ModelInode> inode, Path path, bool writable)
      : files_(files), inode_(std::move(inode)), path_(std::move(path)), writable_(writable) {}

  Result<void> append(std::span<const std::byte> bytes) override {
    const Guard guard(files_.mutex_);
    if (!writable_) return failed(path_, "read-only");
    std::size_t written = bytes.size();
    const std::uint64_t used = files_.used();
    const bool fails = files_.fails();
    if (fails) written = files_.below(bytes.size() + 1);
    const bool full = used + written > files_.room_;
    if (full) written = files_.room_ > used ? files_.room_ - used : 0;
    inode_->content.insert(inode_->content.end(), bytes.begin(),
                           bytes.begin() + static_cast<std::ptrdiff_t>(written));
    if (full) return failed(path_, "no space left");
    if (fails) return failed(path_);
    return {};
  }
  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) override {
    const Guard guard(files_.mutex_);
    const Bytes& content = inode_->content;
    if (offset >= content.size()) return 0;
    const std::size_t size = std::min<std::size_t>(into.size(), content.size() - offset);
    std::copy_n(content.begin() + static_cast<std::ptrdiff_t>(offset), size, into.begin());
    return size;
  }
  Result<void> sync() override {
    const Guard guard(files_.mutex_);
    if (files_.fails()) {
      inode_->lost = true;
      return failed(path_);
    }
    if (!inode_->lost) inode_->durable = inode_->content;
    return {};
  }
  Result<void> truncate(std::uint64_t bytes) override {
    const Guard guard(files_.mutex_);
    if (!writable_ || files_.fails()) return failed(path_);
    inode_->content.resize(bytes);
    return {};
  }
  Result<std::uint64_t> size() override {
    const Guard guard(files_.mutex_);
    return inode_->content.size();
  }

 private:
  ModelFiles& files_;
  std::shared_ptr<ModelInode> inode_;
  Path path_;
  bool writable_;
};

bool ModelFiles::fails() {
  ++calls_;
  return calls_ >= fail_from_ && calls_ < fail_to_;
}

void ModelFiles::fail(std::uint64_t first, std::uint64_t count) {
  const Guard guard(mutex_);
  fail_from_ = calls_ + first;
  fail_to_ = fail_from_ + count;
}

std::uint64_t ModelFiles::used() const {
  std::uint64_t all = 0;
  for (const auto& [path, inode] : names_) all += inode->content.size();
  return all;
}

Result<std::unique_ptr<File>> ModelFiles::create(const Path& path) {
  const Guard guard(mutex_);
  if (fails()) return failed(path);
  if (names_.contains(path)) return failed(path, "exists");
  auto inode = std::make_shared<ModelInode>();
  names_[path] = inode;
  return std::make_unique<ModelFile>(*this, std::move(inode), path, true);
}

Result<std::unique_ptr<File>> ModelFiles::open(const Path& path, bool writable) {
  const Guard guard(mutex_);
  if (writable && fails()) return failed(path);
  const auto found = names_.find(path);
  if (found == names_.end()) return failed(path, "no such file");
  return std::make_unique<ModelFile>(*this, found->second, path, writable);
}

Result<void> ModelFiles::rename(const Path& from, const Path& to) {
  const Guard guard(mutex_);
  if (fails()) return failed(from);
  const auto found = names_.find(from);
  if (found == names_.end()) return failed(from, "no such file");
  names_[to] = found->second;
  names_.erase(from);
  return {};
}

Result<void> ModelFiles::remove(const Path& path) {
  const Guard guard(mutex_);
  if (fails()) return failed(path);
  if (names_.erase(path) == 0) return failed(path, "no such file");
  return {};
}

Result<void> ModelFiles::make_folder(const Path& folder) {
  const Guard guard(mutex_);
  if (fails()) return failed(folder);
  return {};
}

Result<void> ModelFiles::sync_folder(const Path& folder) {
  const Guard guard(mutex_);
  if (fails()) return failed(folder);
  const auto inside = [&](const auto& entry) { return entry.first.parent_path() == folder; };
  std::erase_if(durable_names_, inside);
  for (const auto& entry : names_)
    if (inside(entry)) durable_names_.insert(entry);
  return {};
}

Result<std::vector<std::string>> ModelFiles::list(const Path& folder) {
  const Guard guard(mutex_);
  std::vector<std::string> names;
  for (const auto& [path, inode] : names_)
    if (path.parent_path() == folder) names.push_back(path.filename().string());
  return names;
}

/// Each change of a name that was not durable is kept or undone; a file keeps its durable bytes and
/// a part of the later ones, or of the truncated ones.
void ModelFiles::power_cut() {
  const Guard guard(mutex_);
  Names after;
  std::set<Path> paths;
  for (const auto& [path, inode] : names_) paths.insert(path);
  for (const auto& [path, inode] : durable_names_) paths.insert(path);
  for (const Path& path : paths) {
    const auto now = names_.find(path), then = durable_names_.find(path);
    const bool same =
        now != names_.end() && then != durable_names_.end() && now->second == then->second;
    const auto& from = same || below(2) == 0 ? now : then;
    if (from != names_.end() && from != durable_names_.end()) after.insert(*from);
  }
  for (auto& [path, inode] : after) {
    auto cut = std::make_shared<ModelInode>();
    Bytes& left = cut->content;
    left = inode->durable;
    const Bytes& content = inode->content;
    if (content.size() > left.size() && !inode->lost) {
      const std::size_t more = below(content.size() - left.size() + 1);
      left.insert(left.end(), content.begin() + static_cast<std::ptrdiff_t>(left.size()),
                  content.begin() + static_cast<std::ptrdiff_t>(left.size() + more));
      if (more > 0 && below(4) == 0) left.back() ^= std::byte{0x5a};
    } else if (content.size() < left.size() && below(2) == 0) {
      left.resize(content.size());
    }
    cut->durable = left;
    inode = std::move(cut);
  }
  names_ = after;
  durable_names_ = after;
}

}  // namespace l4::store::test
