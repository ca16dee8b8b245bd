#include "offline/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <clocale>

#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "agent/discover/file_kind.h"

namespace l4::offline {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlockBytes = 256 * 1024;

struct Free {
  void operator()(archive* reader) const { archive_read_free(reader); }
};
using Reader = std::unique_ptr<archive, Free>;

/// libarchive converts names through the thread's locale, and the C locale cannot spell most.
class Utf8Locale {
 public:
  Utf8Locale() : mine_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (mine_ != nullptr) before_ = ::uselocale(mine_);
  }
  ~Utf8Locale() {
    if (mine_ == nullptr) return;
    ::uselocale(before_);
    ::freelocale(mine_);
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  locale_t mine_ = nullptr, before_ = nullptr;
};

/// Tar alone, and only filters that libarchive has built in: none that would start a program.
Reader open_archive(const fs::path& file) {
  Reader reader(archive_read_new());
  archive_read_support_format_tar(reader.get());
  archive_read_support_filter_gzip(reader.get());
  archive_read_support_filter_bzip2(reader.get());
  archive_read_support_filter_xz(reader.get());
  archive_read_support_filter_zstd(reader.get());
  if (archive_read_open_filename(reader.get(), file.c_str(), kBlockBytes) != ARCHIVE_OK)
    return nullptr;
  return reader;
}

/// The name without `/` at the front and `.` parts; empty if it leads out of the folder.
fs::path tame(std::string_view name) {
  const fs::path plain = fs::path(name).relative_path();
  fs::path result;
  for (const fs::path& part : plain) {
    if (part == "..") return {};
    if (part != "." && !part.empty()) result /= part;
  }
  return result;
}

class Unpacker {
 public:
  Unpacker(std::string name, fs::path folder, const UnpackLimits& limits,
           std::vector<wire::Warning>& warnings)
      : name_(std::move(name)), folder_(std::move(folder)), limits_(limits), warnings_(warnings) {}

  Result<void> run(archive* reader, std::atomic<std::uint64_t>& bytes_done);

 private:
  Result<void> member(archive* reader, archive_entry* entry);
  Result<void> write_file(archive* reader, archive_entry* entry, const fs::path& file);
  Result<void> copy(archive* reader, const std::string& shown, int descriptor);
  void leave_out(const std::string& reason, const std::string& member, std::uint64_t bytes);
  void report();
  Error too_large() const {
    return {name_, fmt::format("unpacks to more than {:.1f} GB, the most that {} allow",
                               static_cast<double>(limits_.bytes_max) / 1e9, kLimits)};
  }

  struct LeftOut {
    std::string first;
    std::size_t files = 0;
    std::uint64_t bytes = 0;
  };
  std::string name_;
  fs::path folder_;
  UnpackLimits limits_;
  std::vector<wire::Warning>& warnings_;
  std::map<std::string, LeftOut> left_out_;  // by reason
  std::uint64_t bytes_ = 0;
  std::size_t files_ = 0;
};

void Unpacker::leave_out(const std::string& reason, const std::string& member,
                         std::uint64_t bytes) {
  LeftOut& some = left_out_[reason];
  if (some.files++ == 0) some.first = member;
  some.bytes += bytes;
}

void Unpacker::report() {
  for (const auto& [reason, some] : left_out_)
    warnings_.push_back(
        {"skipped", name_ + ":" + some.first,
         some.files == 1 ? reason : fmt::format("{} (and {} more)", reason, some.files - 1),
         some.bytes});
}

Result<void> Unpacker::run(archive* reader, std::atomic<std::uint64_t>& bytes_done) {
  std::uint64_t told = 0;
  Result<void> outcome;
  for (archive_entry* entry = nullptr; outcome;) {
    const int status = archive_read_next_header(reader, &entry);
    const auto read = static_cast<std::uint64_t>(archive_filter_bytes(reader, -1));
    bytes_done.fetch_add(read - std::exchange(told, read), std::memory_order_relaxed);
    if (status == ARCHIVE_EOF) break;
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) {
      const char* reason = archive_error_string(reader);
      warnings_.push_back({"unreadable", name_,
                           fmt::format("damaged behind {} files: {}", files_,
                                       reason == nullptr ? "unknown error" : reason),
                           0});
      break;
    }
    outcome = member(reader, entry);
  }
  report();
  if (outcome && files_ == 0) {
    const bool told_why = !warnings_.empty() && warnings_.back().file.starts_with(name_);
    return std::unexpected(Error{name_, "no log file came out of this archive" +
                                            (told_why ? ": " + warnings_.back().reason : "")});
  }
  return outcome;
}

Result<void> Unpacker::member(archive* reader, archive_entry* entry) {
  if (archive_entry_filetype(entry) == AE_IFDIR) return {};
  const char* spelled = archive_entry_pathname(entry);
  if (spelled == nullptr) spelled = archive_entry_pathname_utf8(entry);
  const std::string member = spelled == nullptr ? "?" : spelled;
  const auto size = static_cast<std::uint64_t>(std::max<la_int64_t>(archive_entry_size(entry), 0));
  if (archive_entry_hardlink(entry) != nullptr || archive_entry_filetype(entry) == AE_IFLNK) {
    leave_out("is a link", member, 0);
    return {};
  }
  if (archive_entry_filetype(entry) != AE_IFREG) {
    leave_out("is no regular file", member, 0);
    return {};
  }
  const fs::path relative = tame(member);
  if (spelled == nullptr || relative.empty()) {
    leave_out("its name leads out of the archive", member, size);
    return {};
  }
  if (discover::has_data_extension(relative.filename().string())) {
    leave_out("is no log by its extension", member, size);
    return {};
  }
  if (files_ >= limits_.files_max) {
    leave_out(fmt::format("is beyond the first {} files", limits_.files_max), member, size);
    return {};
  }
  if (size > limits_.bytes_max - bytes_) return std::unexpected(too_large());
  return write_file(reader, entry, folder_ / relative);
}

Result<void> Unpacker::write_file(archive* reader, archive_entry* entry, const fs::path& file) {
  const std::string shown = file.lexically_relative(folder_).string();
  std::error_code failed;
  fs::create_directories(file.parent_path(), failed);
  // A member that comes again is a newer version of the file, as with tar.
  if (!failed) fs::remove(file, failed);
  const int descriptor =
      failed ? -1
             : ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    const std::string reason = failed ? failed.message() : std::strerror(errno);
    if (failed == std::errc::no_space_on_device || errno == ENOSPC)
      return std::unexpected(Error{folder_.string(), reason});
    leave_out("cannot be unpacked: " + reason, shown, 0);
    return {};
  }
  auto copied = copy(reader, shown, descriptor);
  const timespec when{archive_entry_mtime_is_set(entry) ? archive_entry_mtime(entry) : 0,
                      archive_entry_mtime_is_set(entry) ? archive_entry_mtime_nsec(entry) : 0};
  const std::array<timespec, 2> times{when, when};
  ::futimens(descriptor, times.data());
  ::close(descriptor);
  ++files_;
  return copied;
}

Result<void> Unpacker::copy(archive* reader, const std::string& shown, int descriptor) {
  std::array<char, 64 * 1024> block;
  for (;;) {
    const la_ssize_t got = archive_read_data(reader, block.data(), block.size());
    if (got == 0) return {};
    if (got < 0) {
      const char* reason = archive_error_string(reader);
      warnings_.push_back({"unreadable", name_ + ":" + shown,
                           fmt::format("damaged: {}", reason == nullptr ? "unknown" : reason), 0});
      return {};
    }
    bytes_ += static_cast<std::uint64_t>(got);
    if (bytes_ > limits_.bytes_max) return std::unexpected(too_large());
    for (la_ssize_t done = 0; done < got;) {
      const ssize_t n =
          ::write(descriptor, block.data() + done, static_cast<std::size_t>(got - done));
      if (n < 0 && errno != EINTR)
        return std::unexpected(
            Error{folder_.string(), fmt::format("cannot unpack: {}", std::strerror(errno))});
      done += std::max<ssize_t>(n, 0);
    }
  }
}

}  // namespace

bool named_like_archive(const fs::path& file) {
  const std::string name = file.filename().string();
  for (const std::string_view end :
       {".tar", ".tgz", ".tar.gz", ".tbz2", ".tar.bz2", ".txz", ".tar.xz", ".tzst", ".tar.zst"})
    if (name.ends_with(end) && name.size() > end.size()) return true;
  return false;
}

bool begins_like_archive(const fs::path& file) {
  const Reader reader = open_archive(file);
  archive_entry* entry = nullptr;
  return reader && archive_read_next_header(reader.get(), &entry) == ARCHIVE_OK;
}

Result<void> unpack(const fs::path& archive, const std::string& name, const fs::path& folder,
                    const UnpackLimits& limits, std::vector<wire::Warning>& warnings,
                    std::atomic<std::uint64_t>& bytes_done) {
  const Utf8Locale utf8;
  const Reader reader = open_archive(archive);
  if (!reader) return std::unexpected(Error{name, "cannot be read as an archive"});
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return std::unexpected(Error{folder.string(), failed.message()});
  return Unpacker(name, folder, limits, warnings).run(reader.get(), bytes_done);
}

}  // namespace l4::offline
