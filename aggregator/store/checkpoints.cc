#include "aggregator/store/checkpoints.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <utility>

#include "common/base/byte_stream.h"
#include "common/base/check.h"

namespace l4::store {
namespace {

constexpr std::uint64_t kCheckpointMagic = 0x0a3154504b43344cU;  // "L4CKPT1\n"
constexpr std::string_view kCheckpointSuffix = ".l4c";
constexpr std::size_t kHeadBytesMax = 512;
constexpr std::size_t kNameMax = 256;  // in the head; jobs have shorter names
constexpr std::size_t kSliceBytes = 1 << 20;

std::uint32_t crc(std::uint32_t sum, std::span<const std::byte> bytes) {
  const auto* at = reinterpret_cast<const Bytef*>(bytes.data());  // NOLINT: zlib's byte
  return static_cast<std::uint32_t>(::crc32_z(sum, at, bytes.size()));
}

/// The name of a file; the name of a state may hold characters that no file name may hold.
std::string file_of(const CheckpointHead& head) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : head.name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return fmt::format("{:016x}-{:016x}{}", hash, head.position.value(), kCheckpointSuffix);
}

void append_head(ByteWriter& out, const CheckpointHead& head, std::size_t body) {
  ByteWriter fields;
  fields.text(head.name);
  fields.number(head.position.value());
  fields.number(head.floor.value());
  fields.signed_number(head.time.time_since_epoch().count());
  fields.byte(head.closed ? 1 : 0);
  fields.number(body);
  out.word(kCheckpointMagic);
  out.word(crc(0, fields.bytes()));
  out.word(fields.size());
  out.raw(fields.bytes());
}

struct Headed {
  CheckpointHead head;
  std::uint64_t body = 0;  ///< bytes
  std::uint64_t from = 0;  ///< where the body begins
};

std::optional<Headed> head_of(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  if (in.word() != kCheckpointMagic) return std::nullopt;
  const std::uint64_t sum = in.word();
  const std::uint64_t size = in.word();
  const auto head = in.raw(size);
  if (!in.ok() || crc(0, head) != sum) return std::nullopt;
  ByteReader fields(head);
  Headed headed;
  headed.head.name = fields.text();
  headed.head.position = Seq{fields.number()};
  headed.head.floor = Seq{fields.number()};
  headed.head.time = TimeMs{Millis{fields.signed_number()}};
  headed.head.closed = fields.byte() != 0;
  headed.body = fields.number();
  headed.from = 3 * sizeof(std::uint64_t) + size;
  if (!fields.ok() || fields.left() > 0) return std::nullopt;
  return headed;
}

}  // namespace

Result<Checkpoints> Checkpoints::open(Files& files, const Path& folder, CheckpointOptions options) {
  Checkpoints checkpoints(files, folder, options);
  const MutexLock lock(*checkpoints.mutex_);
  const auto names = files.list(folder);
  if (!names) return std::unexpected(names.error());
  for (const std::string& name : *names) {
    if (name.ends_with(kUnfinished)) static_cast<void>(files.remove(folder / name));
    if (!name.ends_with(kCheckpointSuffix)) continue;
    const Path path = folder / name;
    auto file = files.open(path, false);
    if (!file) return std::unexpected(file.error());
    const auto size = (*file)->size();
    Bytes front(kHeadBytesMax);
    const auto read = (*file)->read(0, front);
    if (!read || !size) return std::unexpected(read ? size.error() : read.error());
    checkpoints.bytes_ += *size;
    const auto headed = head_of(std::span(front).first(*read));
    if (!headed) {
      ++checkpoints.damaged_;
      checkpoints.note_trouble(path.string() + ": no checkpoint, or its head is damaged");
      const Path aside = path.string() + ".bad";
      if (files.rename(path, aside)) checkpoints.bytes_ -= *size;
      continue;
    }
    const CheckpointHead& known = headed->head;
    checkpoints.stored_[known.name].push_back({path, known.position, known.time, *size});
  }
  for (auto& [name, stored] : checkpoints.stored_)
    std::ranges::sort(stored, {}, &SavedState::position);
  return checkpoints;
}

std::vector<std::string> Checkpoints::names() const {
  const MutexLock lock(*mutex_);
  std::vector<std::string> names;
  names.reserve(stored_.size());
  for (const auto& [name, stored] : stored_) names.push_back(name);
  return names;
}

Checkpoints::Newest Checkpoints::newest(const std::string& name) const {
  const MutexLock lock(*mutex_);
  const auto found = stored_.find(name);
  L4_CHECK(found != stored_.end() && !found->second.empty(), "no checkpoint of {}", name);
  const SavedState& stored = found->second.back();
  return {stored.position, stored.time};
}

Result<Checkpoint> Checkpoints::read(const Path& path) const {
  auto bytes = read_whole(*files_, path, options_.one_bytes_max + kHeadBytesMax + kNameMax);
  if (!bytes) return std::unexpected(bytes.error());
  const auto damaged = [&](const char* reason) {
    return std::unexpected(Error{path.string(), reason});
  };
  auto headed = head_of(*bytes);
  if (!headed) return damaged("the head of the checkpoint is damaged");
  const std::uint64_t sum_at = headed->from + headed->body;
  if (headed->body > bytes->size() || bytes->size() != sum_at + sizeof(std::uint64_t))
    return damaged("the checkpoint is cut");
  const auto summed = std::span(*bytes).first(sum_at);
  if (ByteReader(std::span(*bytes).subspan(sum_at)).word() != crc(0, summed))
    return damaged("the checkpoint is damaged");
  bytes->resize(sum_at);
  bytes->erase(bytes->begin(), bytes->begin() + static_cast<std::ptrdiff_t>(headed->from));
  return Checkpoint{std::move(headed->head), *std::move(bytes)};
}

std::optional<Checkpoint> Checkpoints::load(const std::string& name) {
  const std::vector<SavedState> stored = states(name);
  for (auto at = stored.rbegin(); at != stored.rend(); ++at) {
    auto checkpoint = read(at->path);
    if (checkpoint && checkpoint->head.name == name) return *std::move(checkpoint);
    ++damaged_;
    note_trouble(checkpoint ? at->path.string() + ": another name" : checkpoint.error().text());
  }
  return std::nullopt;
}

Result<void> Checkpoints::write_file(const Path& path, const CheckpointHead& head,
                                     std::span<const std::byte> bytes) {
  auto file = files_->create(path);
  if (!file) return std::unexpected(file.error());
  ByteWriter front;
  append_head(front, head, bytes.size());
  std::uint32_t sum = crc(0, front.bytes());
  if (auto done = (*file)->append(front.bytes()); !done) return done;
  while (!bytes.empty()) {
    const auto slice = bytes.first(std::min(bytes.size(), kSliceBytes));
    sum = crc(sum, slice);
    if (auto done = (*file)->append(slice); !done) return done;
    bytes = bytes.subspan(slice.size());
  }
  ByteWriter tail;
  tail.word(sum);
  if (auto done = (*file)->append(tail.bytes()); !done) return done;
  return (*file)->sync();
}

Result<void> Checkpoints::write_and_rename(const Path& path, const CheckpointHead& head,
                                           std::span<const std::byte> bytes) {
  const Path unfinished = Path(path) += kUnfinished;
  auto done = write_file(unfinished, head, bytes);
  if (done) done = files_->rename(unfinished, path);
  if (!done) static_cast<void>(files_->remove(unfinished));
  return done;
}

Result<void> Checkpoints::write(const CheckpointHead& head, std::span<const std::byte> bytes,
                                std::optional<Ring> ring) {
  const std::uint64_t size = bytes.size() + kHeadBytesMax;
  {
    const MutexLock lock(*mutex_);
    evict_past(size);
    if (head.name.size() > kNameMax || bytes.size() > options_.one_bytes_max ||
        bytes_ + size > options_.bytes_max)
      return std::unexpected(
          Error{head.name, fmt::format("a checkpoint of {} bytes is beyond the limit; there are {}",
                                       bytes.size(), bytes_)});
  }
  const Path path = folder_ / file_of(head);
  auto done = write_and_rename(path, head, bytes);
  if (!done && evict_all_past()) done = write_and_rename(path, head, bytes);
  if (!done) return done;
  add({path, head.position, head.time, size}, head.name);
  if (auto synced = files_->sync_folder(folder_); !synced) return synced;
  if (const auto again = read(path); !again) return std::unexpected(again.error());
  const MutexLock lock(*mutex_);
  std::vector<SavedState>& stored = stored_[head.name];
  L4_CHECK(!stored.empty(), "the checkpoint of {} at {} is not listed", head.name, head.position);
  if (stored.back().path != path) return {};
  if (!ring) {
    drop(stored, [&](std::size_t i) { return i + 1 < stored.size(); });
    return {};
  }
  thin(stored, *ring);
  evict_unreachable(*ring);
  return {};
}

void Checkpoints::add(SavedState made, const std::string& name) {
  const MutexLock lock(*mutex_);
  std::vector<SavedState>& stored = stored_[name];
  for (const SavedState& old : stored)  // the same number may be written again
    if (old.path == made.path) bytes_ -= std::min(bytes_, old.bytes);
  std::erase_if(stored, [&](const SavedState& old) { return old.path == made.path; });
  const auto at = std::ranges::upper_bound(stored, made.position, {}, &SavedState::position);
  bytes_ += made.bytes;
  stored.insert(at, std::move(made));
}

/// Removes the checkpoints for which `goes(index)` is true; a file that cannot be removed stays
/// listed.
void Checkpoints::drop(std::vector<SavedState>& stored,
                       const std::function<bool(std::size_t)>& goes) {
  std::vector<SavedState> kept;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    if (goes(i) && files_->remove(stored[i].path))
      bytes_ -= std::min(bytes_, stored[i].bytes);
    else
      kept.push_back(stored[i]);
  }
  stored = std::move(kept);
}

/// Removes a checkpoint if its neighbours lie close enough together.
void Checkpoints::thin(std::vector<SavedState>& stored, const Ring& ring) {
  constexpr std::uint64_t kParts = 8;
  const std::uint64_t far = (ring.last.value() - std::min(ring.first, ring.last).value()) / kParts;
  std::vector<bool> goes(stored.size());
  for (std::size_t before = 0, i = 1; i + 1 < stored.size(); ++i) {
    const SavedState &left = stored[before], &right = stored[i + 1];
    goes[i] = right.time - left.time <= options_.past_every &&
              right.position.value() - left.position.value() <= far;
    if (!goes[i]) before = i;
  }
  drop(stored, [&](std::size_t i) { return goes[i]; });
}

/// Removes older checkpoints whose later records have left the journal, and those beyond the bound.
void Checkpoints::evict_unreachable(const Ring& ring) {
  const auto is_cut_off = [&](const SavedState& state) {
    return state.position.value() + 1 < ring.first.value();
  };
  for (auto& [name, stored] : stored_)
    if (stored.size() > 1 && is_cut_off(stored.front()))
      drop(stored, [&](std::size_t i) { return i + 1 < stored.size() && is_cut_off(stored[i]); });
  while (count_past_bytes() > options_.past_bytes_max && drop_oldest()) continue;
}

/// Evicts replaced checkpoints, oldest first, until `wanted` more bytes fit; true if any was
/// evicted.
bool Checkpoints::evict_past(std::uint64_t wanted) {
  bool some = false;
  while (bytes_ + wanted > options_.bytes_max && drop_oldest()) some = true;
  return some;
}

bool Checkpoints::evict_all_past() {
  const MutexLock lock(*mutex_);
  return evict_past(options_.bytes_max);
}

/// Removes the oldest replaced checkpoint; false if there is none that can be removed.
bool Checkpoints::drop_oldest() {
  std::vector<SavedState>* oldest = nullptr;
  for (auto& [name, stored] : stored_)
    if (stored.size() > 1 && (oldest == nullptr || stored.front().time < oldest->front().time))
      oldest = &stored;
  if (oldest == nullptr) return false;
  const std::size_t before = oldest->size();
  drop(*oldest, [](std::size_t i) { return i == 0; });
  return oldest->size() < before;
}

Result<void> Checkpoints::remove(const std::string& name) {
  const MutexLock lock(*mutex_);
  const auto found = stored_.find(name);
  if (found == stored_.end()) return {};
  drop(found->second, [](std::size_t) { return true; });
  if (!found->second.empty())
    return std::unexpected(Error{found->second.front().path.string(), "cannot be removed"});
  stored_.erase(found);
  return {};
}

std::vector<SavedState> Checkpoints::states(const std::string& name) const {
  const MutexLock lock(*mutex_);
  const auto found = stored_.find(name);
  return found == stored_.end() ? std::vector<SavedState>{} : found->second;
}

std::uint64_t Checkpoints::bytes() const {
  const MutexLock lock(*mutex_);
  return bytes_;
}

std::uint64_t Checkpoints::past_bytes() const {
  const MutexLock lock(*mutex_);
  return count_past_bytes();
}

std::uint64_t Checkpoints::count_past_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [name, stored] : stored_)
    for (std::size_t i = 0; i + 1 < stored.size(); ++i) bytes += stored[i].bytes;
  return bytes;
}

std::size_t Checkpoints::expire(TimeMs before,
                                const std::function<bool(const std::string&)>& needed) {
  std::size_t gone = 0;
  for (const std::string& name : names()) {
    if (newest(name).time >= before || needed(name)) continue;
    if (remove(name)) ++gone;
  }
  return gone;
}

void Checkpoints::note_trouble(std::string text) {
  constexpr std::size_t kToldMax = 16;
  if (trouble_.size() < kToldMax) trouble_.push_back(std::move(text));
}

std::vector<std::string> Checkpoints::drain_trouble() {
  return std::exchange(trouble_, {});
}

}  // namespace l4::store
