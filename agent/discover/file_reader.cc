#include "agent/discover/file_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include "agent/decode/utf16.h"
#include "agent/discover/unpacker.h"

namespace l4::discover {
namespace {

constexpr std::size_t kInputBytes = 128 * 1024;
constexpr std::size_t kHeadBytes = 4096;   // enough to tell an encoding
constexpr std::size_t kWideBytes = 16384;  // decoded at once

}  // namespace

struct FileReader::State {
  std::string name;
  int descriptor = -1;
  OnDisk disk;
  std::uint64_t bytes_read = 0;        // read from disk
  std::unique_ptr<Unpacker> unpacker;  // null: not packed
  std::optional<decode::Utf16Decoder> wide;
  std::uint64_t room = 0;        // bytes that may still be unpacked, plus one
  std::optional<Error> failure;  // unpacking failed: no text follows
  bool file_done = false;
  std::array<char, kInputBytes> input;
  std::size_t input_from = 0, input_to = 0;
  std::string head;  // unpacked to tell the encoding; read first
  std::size_t head_from = 0;
  std::string text;  // decoded from UTF-16, not yet given
  std::size_t text_from = 0;

  ~State() {
    if (descriptor >= 0) ::close(descriptor);
  }

  Error error(std::string_view reason) const { return {name, std::string(reason)}; }
  std::unexpected<Error> fail(std::string_view reason) {
    failure = error(std::string(unpacker->name()) + " data " + std::string(reason));
    return std::unexpected(*failure);
  }

  Result<std::size_t> read_raw(void* out, std::size_t size) {
    for (;;) {
      const ssize_t n = ::read(descriptor, out, size);
      if (n >= 0) {
        bytes_read += static_cast<std::uint64_t>(n);
        return static_cast<std::size_t>(n);
      }
      if (errno != EINTR)
        return std::unexpected(error(std::string("cannot be read: ") + std::strerror(errno)));
    }
  }

  Result<std::size_t> read_packed(std::span<char> buffer);
  Result<std::size_t> read_bytes(std::span<char> buffer);
  Result<std::size_t> read_wide(std::span<char> buffer);
  void detect_encoding();
};

Result<std::size_t> FileReader::State::read_packed(std::span<char> buffer) {
  while (!failure) {
    if (input_from == input_to && !file_done) {
      const auto n = read_raw(input.data(), input.size());
      if (!n) return std::unexpected(n.error());
      input_from = 0;
      input_to = *n;
      file_done = *n == 0;
    }
    // At the end of the input the unpacker may still hold text.
    const auto step = unpacker->complete() && input_from == input_to
                          ? Unpacker::Step{}
                          : unpacker->step({input.data() + input_from, input_to - input_from},
                                           buffer.first(std::min(buffer.size(), room)));
    if (!step) return fail(step.error());
    input_from += step->used;
    room -= step->made;
    if (step->made > 0) return step->made;
    if (room == 0) return fail("unpacks to more than 1032 times its size; the rest was left out");
    if (file_done && step->used == 0) {
      if (unpacker->complete()) return std::size_t{0};
      return fail("ends before its end mark");
    }
  }
  return std::unexpected(*failure);
}

/// The bytes of the file, unpacked.
Result<std::size_t> FileReader::State::read_bytes(std::span<char> buffer) {
  if (head_from < head.size()) {
    const std::size_t n = std::min(buffer.size(), head.size() - head_from);
    std::memcpy(buffer.data(), head.data() + head_from, n);
    head_from += n;
    return n;
  }
  if (unpacker) return read_packed(buffer);
  if (input_from < input_to) {
    const std::size_t n = std::min(buffer.size(), input_to - input_from);
    std::memcpy(buffer.data(), input.data() + input_from, n);
    input_from += n;
    return n;
  }
  return read_raw(buffer.data(), buffer.size());
}

Result<std::size_t> FileReader::State::read_wide(std::span<char> buffer) {
  while (text_from == text.size()) {
    std::array<char, kWideBytes> bytes;
    const auto n = read_bytes(bytes);
    if (!n) return std::unexpected(n.error());
    text.clear();
    text_from = 0;
    if (*n == 0) {
      wide->finish(text);
      if (text.empty()) return std::size_t{0};
    } else {
      wide->decode({bytes.data(), *n}, text);
    }
  }
  const std::size_t n = std::min(buffer.size(), text.size() - text_from);
  std::memcpy(buffer.data(), text.data() + text_from, n);
  text_from += n;
  return n;
}

/// Damage within the head is reported by read(), after the text before it.
void FileReader::State::detect_encoding() {
  std::string_view begin{input.data(), std::min(input_to, kHeadBytes)};
  if (unpacker) {
    std::array<char, kHeadBytes> bytes;
    while (head.size() < kHeadBytes) {
      const auto n = read_packed({bytes.data(), kHeadBytes - head.size()});
      if (!n || *n == 0) break;
      head.append(bytes.data(), *n);
    }
    begin = head;
  }
  if (const auto order = decode::utf16_order(begin)) wide.emplace(*order);
}

FileReader::FileReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
FileReader::~FileReader() = default;
FileReader::FileReader(FileReader&&) noexcept = default;
FileReader& FileReader::operator=(FileReader&&) noexcept = default;

Result<FileReader> FileReader::open(const std::filesystem::path& path) {
  auto state = std::make_unique_for_overwrite<State>();  // `input` need not be zero
  state->name = path.string();
  // O_NONBLOCK: a FIFO without a writer must not stop us; it changes nothing for regular files.
  state->descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (state->descriptor < 0)
    return std::unexpected(state->error(std::string("cannot be opened: ") + std::strerror(errno)));
  struct stat status{};
  if (::fstat(state->descriptor, &status) == 0) state->disk = on_disk_of(status);
  const auto head = state->read_raw(state->input.data(), state->input.size());
  if (!head) return std::unexpected(head.error());
  state->input_to = *head;
  state->unpacker = make_unpacker({state->input.data(), *head});
  state->room = std::max(kUnpackedFree, state->disk.bytes * kUnpackedShare) + 1;
  state->detect_encoding();
  return FileReader{std::move(state)};
}

Result<std::size_t> FileReader::read(std::span<char> buffer) {
  if (buffer.empty()) return std::size_t{0};
  return state_->wide ? state_->read_wide(buffer) : state_->read_bytes(buffer);
}

Result<void> FileReader::skip(std::uint64_t bytes) {
  State& state = *state_;
  if (plain()) {
    const auto held = std::min<std::uint64_t>(bytes, state.input_to - state.input_from);
    state.input_from += held;
    if (bytes > held && ::lseek(state.descriptor, static_cast<off_t>(bytes - held), SEEK_CUR) < 0)
      return std::unexpected(state.error(std::string("cannot seek: ") + std::strerror(errno)));
    return {};
  }
  std::array<char, 64 * 1024> rest;
  while (bytes > 0) {
    const auto n = read({rest.data(), std::min<std::uint64_t>(bytes, rest.size())});
    if (!n) return std::unexpected(n.error());
    if (*n == 0) return {};
    bytes -= *n;
  }
  return {};
}

bool FileReader::plain() const {
  return !state_->unpacker && !state_->wide;
}

const OnDisk& FileReader::on_disk() const {
  return state_->disk;
}

std::uint64_t FileReader::unused() const {
  const std::uint64_t used = state_->bytes_read - (state_->input_to - state_->input_from);
  return state_->disk.bytes - std::min(state_->disk.bytes, used);
}

std::uint64_t FileReader::left_out() const {
  return state_->unpacker ? state_->unpacker->left_out() : 0;
}

std::string read_up_to(FileReader& reader, std::size_t size) {
  std::string text(size, '\0');
  std::size_t filled = 0;
  while (filled < size) {
    const auto n = reader.read({text.data() + filled, size - filled});
    if (!n || *n == 0) break;
    filled += *n;
  }
  text.resize(filled);
  return text;
}

}  // namespace l4::discover
