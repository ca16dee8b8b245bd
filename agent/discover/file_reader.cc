#include "agent/discover/file_reader.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

namespace l4::discover {
namespace {

constexpr std::size_t kInputBytes = 128 * 1024;
constexpr int kGzipWindow = 15 + 16;

std::string error_text(int code) {
  return std::strerror(code);
}

}  // namespace

struct FileReader::State {
  std::string name;
  int descriptor = -1;
  bool gzip = false;
  bool stream_ready = false;
  bool file_done = false;
  bool stream_done = false;  // the end of the last member has been read
  z_stream stream{};
  std::array<unsigned char, kInputBytes> input;
  std::size_t held_from = 0, held_to = 0;  // input that waits: the sniffed head of a plain file

  ~State() {
    if (stream_ready) inflateEnd(&stream);
    if (descriptor >= 0) ::close(descriptor);
  }

  Error error(std::string reason) const { return {name, std::move(reason)}; }

  Result<std::size_t> read_raw(void* out, std::size_t size) {
    for (;;) {
      const ssize_t n = ::read(descriptor, out, size);
      if (n >= 0) return static_cast<std::size_t>(n);
      if (errno != EINTR) return std::unexpected(error("cannot be read: " + error_text(errno)));
    }
  }

  /// More input for inflate; false at the end of the file.
  Result<bool> fill() {
    if (stream.avail_in > 0) return true;
    if (file_done) return false;
    const auto n = read_raw(input.data(), input.size());
    if (!n) return std::unexpected(n.error());
    file_done = *n == 0;
    stream.next_in = input.data();
    stream.avail_in = static_cast<uInt>(*n);
    return *n > 0;
  }

  Result<std::size_t> read_gzip(std::span<char> buffer);
};

Result<std::size_t> FileReader::State::read_gzip(std::span<char> buffer) {
  stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
  stream.avail_out = static_cast<uInt>(buffer.size());
  while (stream.avail_out == buffer.size()) {
    const auto more = fill();
    if (!more) return std::unexpected(more.error());
    if (!*more) {
      if (stream_done) break;
      stream_done = true;
      return std::unexpected(error("gzip data ends before its end mark"));
    }
    if (stream_done) {  // behind a member: another one, or padding that is ignored
      if (*stream.next_in != 0x1f || inflateReset2(&stream, kGzipWindow) != Z_OK) {
        file_done = true;
        stream.avail_in = 0;
        break;
      }
      stream_done = false;
    }
    const int status = inflate(&stream, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      stream_done = true;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      stream_done = file_done = true;
      stream.avail_in = 0;
      return std::unexpected(error("gzip data is damaged"));
    }
  }
  return buffer.size() - stream.avail_out;
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
    return std::unexpected(state->error("cannot be opened: " + error_text(errno)));
  const auto head = state->read_raw(state->input.data(), state->input.size());
  if (!head) return std::unexpected(head.error());
  state->held_to = *head;
  state->gzip =
      *head >= 3 && state->input[0] == 0x1f && state->input[1] == 0x8b && state->input[2] == 8;
  if (state->gzip) {
    state->stream.next_in = state->input.data();
    state->stream.avail_in = static_cast<uInt>(*head);
    if (inflateInit2(&state->stream, kGzipWindow) != Z_OK)
      return std::unexpected(state->error("zlib cannot start"));
    state->stream_ready = true;
  }
  return FileReader{std::move(state)};
}

Result<std::size_t> FileReader::read(std::span<char> buffer) {
  State& state = *state_;
  if (buffer.empty()) return std::size_t{0};
  if (state.gzip)
    return state.read_gzip(buffer.first(std::min<std::size_t>(buffer.size(), 1u << 30)));
  if (state.held_from < state.held_to) {
    const std::size_t n = std::min(buffer.size(), state.held_to - state.held_from);
    std::memcpy(buffer.data(), state.input.data() + state.held_from, n);
    state.held_from += n;
    return n;
  }
  return state.read_raw(buffer.data(), buffer.size());
}

Result<void> FileReader::skip(std::uint64_t bytes) {
  State& state = *state_;
  const std::uint64_t held = std::min<std::uint64_t>(bytes, state.held_to - state.held_from);
  if (!state.gzip) {
    state.held_from += held;
    if (bytes > held && ::lseek(state.descriptor, static_cast<off_t>(bytes - held), SEEK_CUR) < 0)
      return std::unexpected(state.error("cannot seek: " + error_text(errno)));
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

bool FileReader::compressed() const {
  return state_->gzip;
}

}  // namespace l4::discover
