// One kind of sink: the form of its alerts, how one is delivered, and which settings it has.
//
// Flow: settings.cc calls `read` for each `[[alerts.sink]]`, Alerter stores `body`, Sender delivers
// what is stored. Each kind is one constant in a file of its own; sink_kinds.cc lists them all.
#pragma once

#include <filesystem>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/alert/sink.h"
#include "common/config/config_table.h"

namespace l4::alert {

/// The table and defaults from which a kind reads its settings.
struct SinkSettings {
  ConfigTable& table;                   ///< `[[alerts.sink]]`
  const std::filesystem::path& config;  ///< paths in the table are relative to its folder
  Millis timeout;                       ///< default from `[alerts]`
  std::filesystem::path ca;             ///< default from `[alerts]`
};

struct SinkKind {
  std::string_view name;       ///< `kind` in the config
  bool repeats = false;        ///< an open alert is sent again and again, many in one request
  bool holds_open = false;     ///< an alert stays open at the sink until its end is sent
  bool groups_itself = false;  ///< the sink groups alerts that come at once
  std::span<const std::string_view> keys{};  ///< settings that not every kind has
  void (*read)(SinkSettings& from, SinkOptions& sink) = nullptr;
  /// The form stored until it is sent; without secrets.
  std::string (*body)(const Alert& alert, const Origin& from) = nullptr;
  /// Completes a request whose URL, body and certificate are set; null: nothing is missing.
  void (*complete)(const SinkOptions& sink, const std::vector<std::string>& stored,
                   Request& request) = nullptr;
  /// Delivers a request by other means than a post; null: it is posted.
  Result<unsigned> (*deliver)(const SinkOptions& sink, const Request& request,
                              const std::stop_token& stop) = nullptr;
};

/// Reads the keys of a sink that has an address: `url` and `ca`.
void read_address(SinkSettings& from, SinkOptions& sink);
/// Reads the file that `key` names; returns its text without the line feed at its end.
std::string read_secret(SinkSettings& from, std::string_view key);
/// Refuses a text that is not an address to post to.
void check_url(ConfigTable& table, std::string_view key, std::string_view url);

/// All kinds, in the order in which messages list them.
std::span<const SinkKind* const> sink_kinds();

}  // namespace l4::alert
