#include "offline/settings.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "common/config/config_dir.h"
#include "common/config/config_values.h"

namespace l4::offline {
namespace {

Result<void> read_masks(const std::filesystem::path& masks, Settings& settings) {
  auto codes = drain::read_codes(masks);
  if (!codes) return std::unexpected(codes.error());
  settings.codes = std::make_unique<const drain::CodeList>(std::move(*codes));
  settings.agent.drain.codes = settings.codes.get();
  return {};
}

void read_numbers(ConfigTable& root, Settings& settings) {
  constexpr std::int64_t kTemplatesMax = 10'000'000, kMemoMax = 100'000'000;
  constexpr std::int64_t kSequenceEventsMax = 10'000'000'000;
  constexpr std::int64_t kLineMax = 16 * 1024 * 1024, kDaySeconds = 86'400;
  for (ConfigTable& drain : root.tables("drain")) {
    read(drain, "templates_max", settings.agent.drain.templates_max, 100, kTemplatesMax);
    read(drain, "memo_entries_max", settings.agent.drain.memo_entries_max, 0, kMemoMax);
  }
  for (ConfigTable& memory : root.tables("memory")) {
    read(memory, "templates_max_total", settings.shares.templates_max, 1'000, kTemplatesMax);
    read(memory, "sequence_events_max_total", settings.shares.sequence_events_max, 20'000,
         kSequenceEventsMax);
  }
  for (ConfigTable& decode : root.tables("decode"))
    read(decode, "line_bytes_max", settings.agent.decode.line_bytes_max, 256, kLineMax);
  for (ConfigTable& detect : root.tables("detect")) {
    read_seconds(detect, "hang_floor_s", settings.hang.floor, 1, kDaySeconds);
    settings.hang.floor_min = std::min(settings.hang.floor_min, settings.hang.floor);
  }
  for (ConfigTable& archive : root.tables("archive"))
    read(archive, "bytes_max", settings.archive_bytes_max, 1,
         std::numeric_limits<std::int64_t>::max());
}

}  // namespace

Result<Settings> load_settings(const std::filesystem::path& file) {
  Settings settings;
  std::filesystem::path masks;
  if (!file.empty()) {
    auto root = ConfigTable::load(file);
    if (!root)
      return std::unexpected(Error{"--config: " + root.error().where, root.error().reason});
    read_numbers(*root, settings);
    for (ConfigTable& paths : root->tables("paths")) {
      read_path(paths, "frameworks", file, settings.frameworks);
      read_path(paths, "faults", file, settings.faults);
      read_path(paths, "masks", file, masks);
    }
    if (const auto error = root->finish())
      return std::unexpected(Error{"--config: " + error->where, error->reason});
  }
  if (!masks.empty())
    if (const auto read = read_masks(masks, settings); !read) return std::unexpected(read.error());
  const auto shipped = find_config_dir();
  if (settings.frameworks.empty()) settings.frameworks = shipped / "frameworks";
  if (settings.faults.empty()) settings.faults = shipped / "faults";
  if (shipped.empty() && (settings.frameworks.is_relative() || settings.faults.is_relative()))
    return std::unexpected(Error{"",
                                 "no rule packs found: set L4_CONFIG_DIR to the folder that "
                                 "holds frameworks/ and faults/"});
  return settings;
}

}  // namespace l4::offline
