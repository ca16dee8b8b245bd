#include "aggregator/job/saved_job.h"

#include <fmt/format.h>

#include <span>

namespace l4::job {
namespace {

constexpr std::uint64_t kMagic = 0x31424f4a344cULL;  // "L4JOB1"
/// Incremented with every change of the stored form; a job of another version is rebuilt from the
/// journal, or by its agents.
constexpr std::uint64_t kVersion = 15;

}  // namespace

void save_job(const JobState& state, ByteWriter& out) {
  out.word(kMagic);
  out.number(kVersion);
  state.templates().save(out);
  state.save(out);
}

Result<void> load_job(std::span<const std::byte> bytes, JobState& state) {
  ByteReader in(bytes);
  if (in.word() != kMagic) return std::unexpected(Error{state.id(), "no saved job"});
  if (const std::uint64_t version = in.number(); version != kVersion)
    return std::unexpected(
        Error{state.id(), fmt::format("saved in version {}, this is {}", version, kVersion)});
  state.templates().load(in);
  state.load(in);
  if (!in.ok() || in.left() > 0)
    return std::unexpected(Error{state.id(), "the saved job is cut or another one's"});
  return {};
}

}  // namespace l4::job
