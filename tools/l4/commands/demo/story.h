// What a demo says, as text for a page of the given style.
//
// Flow: play.h -> here -> Display. Pure functions; texts of logs are made harmless.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/diagnose/report.h"
#include "aggregator/serve/report_text.h"
#include "common/base/time.h"
#include "tools/l4/ask/live_json.h"
#include "tools/l4/commands/demo/site.h"

namespace l4::commands::demo {

/// How far the recording is written, and what the aggregator has of it.
struct Progress {
  struct Node {
    std::string name;
    std::uint64_t lines = 0;  ///< written
    std::string newest;
  };
  Millis elapsed{0}, length{0};
  std::vector<Node> nodes;
  std::uint64_t written = 0, taken = 0;  ///< lines in all; those that the aggregator has
  std::optional<ask::JobRow> job;        ///< the job of which it has most
  bool is_over = false;                  ///< all is written
};

/// How soon an alert came.
struct Delay {
  Millis span{0};
  std::string since;  ///< "the first line that tells of it (...)"
};

struct Recording {
  std::filesystem::path folder;
  bool is_sample = true;
  std::size_t nodes = 0;
  Millis length{0};
  double speed = 1;
};

std::string opening(const Recording& recording, const serve::TextStyle& style);
std::string started(const std::vector<Watched>& watched, const Addresses& addresses,
                    const std::filesystem::path& folder, const serve::TextStyle& style);
/// The block that is rewritten.
std::string progress_block(const Progress& progress, const serve::TextStyle& style);
/// One line, where nothing can be rewritten.
std::string progress_row(const Progress& progress, const serve::TextStyle& style);
std::string alert(const ask::ChangeRow& change, const std::vector<Delay>& delays,
                  const serve::TextStyle& style);
std::string report(const diagnose::Report& report, const serve::TextStyle& style);
/// Where lines have ended, and a failure cannot be sure yet.
std::string waiting(Millis most, const serve::TextStyle& style);
/// What a real site adds, and what was not moved to now. No shift: no line prints a time.
std::string remarks(std::optional<Millis> shift, const std::vector<std::string>& unmoved,
                    const serve::TextStyle& style);
/// Commands to paste.
struct Questions {
  std::string l4;              ///< as the user calls it
  std::filesystem::path logs;  ///< --logs; empty: the sample
  double speed = 1;
  std::filesystem::path client_settings;
  std::string page;                  ///< address for a browser; empty: none
  std::filesystem::path token;       ///< what it asks for to sign in
  std::vector<std::string> hiding;   ///< variables that hide the settings
  std::string job, incident;         ///< empty: none
  std::optional<std::int64_t> rank;  ///< the first suspect, or any
  std::string node;
  bool kept = false;  ///< the site is there to be asked
};
std::string questions(const Questions& what, const serve::TextStyle& style);

/// A word of a shell's command line.
std::string shell_word(const std::string& text);

}  // namespace l4::commands::demo
