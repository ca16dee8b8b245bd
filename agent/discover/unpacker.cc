#include "agent/discover/unpacker.h"

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>

namespace l4::discover {
namespace {

using Outcome = std::expected<Unpacker::Step, std::string_view>;

class Gzip final : public Unpacker {
 public:
  Gzip() : ready_(inflateInit2(&stream_, kWindow) == Z_OK) {}
  ~Gzip() override {
    if (ready_) inflateEnd(&stream_);
  }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  Outcome step(std::span<const char> input, std::span<char> output) override {
    if (done_) {  // behind a member stands another member, or padding
      if (input.front() != kFirst || inflateReset2(&stream_, kWindow) != Z_OK)
        return leave_out(input);
      done_ = false;
    }
    const std::size_t in = std::min(input.size(), kStepMax);
    const std::size_t out = std::min(output.size(), kStepMax);
    stream_.next_in = reinterpret_cast<z_const Bytef*>(const_cast<char*>(input.data()));
    stream_.avail_in = static_cast<uInt>(in);
    stream_.next_out = reinterpret_cast<Bytef*>(output.data());
    stream_.avail_out = static_cast<uInt>(out);
    const int status = ready_ ? inflate(&stream_, Z_NO_FLUSH) : Z_MEM_ERROR;
    done_ = status == Z_STREAM_END;
    const bool nothing =
        stream_.avail_out == out;  // otherwise the damage is found again after this output
    if (!done_ && nothing && status != Z_OK && status != Z_BUF_ERROR)
      return std::unexpected(std::string_view{"is damaged"});
    return Step{in - stream_.avail_in, out - stream_.avail_out};
  }
  bool complete() const override { return done_; }
  std::string_view name() const override { return "gzip"; }

  static constexpr char kFirst = '\x1f';

 private:
  static constexpr int kWindow = 15 + 16;
  static constexpr std::size_t kStepMax = 1u << 30;
  z_stream stream_{};
  bool ready_;
  bool done_ = false;
};

class Zstd final : public Unpacker {
 public:
  Zstd() : stream_(ZSTD_createDStream()) {
    if (stream_) ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, kWindowLogMax);
  }

  Outcome step(std::span<const char> input, std::span<char> output) override {
    if (!stream_) return std::unexpected(std::string_view{"finds no memory"});
    ZSTD_inBuffer in{input.data(), input.size(), 0};
    ZSTD_outBuffer out{output.data(), output.size(), 0};
    const bool behind_frame = done_ && any_;
    const std::size_t left = ZSTD_decompressStream(stream_.get(), &out, &in);
    if (ZSTD_isError(left) != 0) {
      if (behind_frame) return leave_out(input);
      if (ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge)
        return std::unexpected(std::string_view{"needs a window of more than 128 MB"});
      return std::unexpected(std::string_view{"is damaged"});
    }
    done_ = left == 0;
    any_ = any_ || done_;
    return Step{in.pos, out.pos};
  }
  bool complete() const override { return done_; }
  std::string_view name() const override { return "zstd"; }

 private:
  static constexpr int kWindowLogMax = 27;
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  std::unique_ptr<ZSTD_DStream, Free> stream_;
  bool done_ = true;
  bool any_ = false;  // a frame has ended
};

/// A frame of zstd, or one that it skips (pzstd begins with such a frame).
bool begins_like_zstd(std::span<const char> head) {
  if (head.size() < 4) return false;
  const std::string_view mark{head.data(), 4};
  return mark == "\x28\xb5\x2f\xfd" ||
         (static_cast<unsigned char>(mark[0]) >> 4 == 5 && mark.substr(1) == "\x2a\x4d\x18");
}

}  // namespace

std::unique_ptr<Unpacker> make_unpacker(std::span<const char> head) {
  if (head.size() >= 3 && head[0] == Gzip::kFirst && head[1] == '\x8b' && head[2] == 8)
    return std::make_unique<Gzip>();
  if (begins_like_zstd(head)) return std::make_unique<Zstd>();
  return nullptr;
}

}  // namespace l4::discover
