#include "agent/host/environment.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace l4::host {
namespace {

constexpr auto kKeys = std::to_array<std::string_view>({
    "DEVICE_ID",
    "GROUP_RANK",
    "HOROVOD_LOCAL_RANK",
    "HOROVOD_LOCAL_SIZE",
    "HOROVOD_RANK",
    "HOROVOD_SIZE",
    "HOSTNAME",
    "JOB_COMPLETION_INDEX",
    "KUBERNETES_SERVICE_HOST",
    "LOCAL_RANK",
    "LOCAL_SIZE",
    "LOCAL_WORLD_SIZE",
    "LSB_JOBID",
    "MASTER_ADDR",
    "MASTER_PORT",
    "MPI_LOCALNRANKS",
    "MPI_LOCALRANKID",
    "MS_NODE_ID",
    "MS_ROLE",
    "MS_WORKER_NUM",
    "MV2_COMM_WORLD_LOCAL_RANK",
    "MV2_COMM_WORLD_LOCAL_SIZE",
    "MV2_COMM_WORLD_RANK",
    "MV2_COMM_WORLD_SIZE",
    "NODE_RANK",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "OMPI_COMM_WORLD_LOCAL_SIZE",
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "PADDLE_JOB_ID",
    "PADDLE_RANK_IN_NODE",
    "PADDLE_TRAINERS_NUM",
    "PADDLE_TRAINER_ID",
    "PBS_JOBID",
    "PET_NNODES",
    "PET_NODE_RANK",
    "PET_NPROC_PER_NODE",
    "PET_RDZV_ID",
    "PMIX_RANK",
    "PMI_RANK",
    "PMI_SIZE",
    "RANK",
    "RANK_ID",
    "RANK_SIZE",
    "RAY_JOB_ID",
    "SLURMD_NODENAME",
    "SLURM_ARRAY_JOB_ID",
    "SLURM_ARRAY_TASK_ID",
    "SLURM_HET_JOB_ID",
    "SLURM_JOB_ID",
    "SLURM_LOCALID",
    "SLURM_NODEID",
    "SLURM_NTASKS",
    "SLURM_PACK_JOB_ID",
    "SLURM_PROCID",
    "SLURM_RESTART_COUNT",
    "SLURM_STEP_ID",
    "SLURM_STEP_NUM_TASKS",
    "TORCHELASTIC_RESTART_COUNT",
    "TORCHELASTIC_RUN_ID",
    "VC_TASK_INDEX",
    "VK_TASK_INDEX",
    "WORLD_SIZE",
});
static_assert(std::ranges::is_sorted(kKeys));
constexpr std::size_t kKeyBytesMax = 32, kValueBytesMax = 256, kReadBytesMax = 4U << 20U;

/// The key's text in the list; empty if it is not there.
std::string_view listed(std::string_view key) {
  const auto found = std::ranges::lower_bound(kKeys, key);
  return found != kKeys.end() && *found == key ? *found : std::string_view{};
}

/// Splits `KEY=value\0` entries; holds a value only while its key is on the list.
class Splitter {
 public:
  explicit Splitter(Environment& out) : out_(out) {}
  ~Splitter() { ::explicit_bzero(key_.data(), key_.size()); }
  Splitter(const Splitter&) = delete;
  Splitter& operator=(const Splitter&) = delete;

  void feed(char c) {
    if (c == '\0') {
      end();
    } else if (!in_value_ && c == '=') {
      in_value_ = true;
      wanted_ = length_ <= kKeyBytesMax ? listed({key_.data(), length_}) : std::string_view{};
    } else if (!in_value_) {
      if (length_ < kKeyBytesMax) key_[length_] = c;
      length_ = std::min(length_ + 1, kKeyBytesMax + 1);
    } else if (!wanted_.empty() && value_.size() <= kValueBytesMax) {
      value_.push_back(c);
    }
  }
  void end() {
    if (!wanted_.empty() && value_.size() <= kValueBytesMax) out_.set(wanted_, value_);
    value_.clear();
    wanted_ = {};
    length_ = 0;
    in_value_ = false;
  }

 private:
  Environment& out_;
  std::array<char, kKeyBytesMax> key_{};
  std::size_t length_ = 0;
  bool in_value_ = false;
  std::string_view wanted_;
  std::string value_;
};

}  // namespace

std::span<const std::string_view> environment_keys() {
  return kKeys;
}

bool Environment::set(std::string_view key, std::string value) {
  const std::string_view known = listed(key);
  if (!known.empty()) values_.emplace(known, std::move(value));
  return !known.empty();
}

const std::string* Environment::find(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

std::string_view Environment::get(std::string_view key) const {
  const std::string* value = find(key);
  return value == nullptr ? std::string_view{} : std::string_view{*value};
}

Seen<Environment> read_environment(const Proc& proc, Pid pid) {
  const int fd = ::open(proc.file(pid, "environ").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::unexpected(unseen_of(errno));
  Environment environment;
  Splitter splitter{environment};
  std::array<char, 4096> buffer;
  std::size_t total = 0;
  int error = 0;
  while (total < kReadBytesMax) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) error = errno;
    if (got <= 0) break;
    total += static_cast<std::size_t>(got);
    for (ssize_t i = 0; i < got; ++i) splitter.feed(buffer[static_cast<std::size_t>(i)]);
  }
  splitter.end();
  ::explicit_bzero(buffer.data(), buffer.size());
  ::close(fd);
  if (error != 0) return std::unexpected(unseen_of(error));
  return environment;
}

}  // namespace l4::host
