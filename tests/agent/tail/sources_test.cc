#include "agent/tail/sources.h"

#include <doctest/doctest.h>

using namespace l4::tail;

namespace {

Sources sources(const std::vector<std::string>& patterns,
                const std::vector<std::string>& excludes = {}) {
  auto made = Sources::compile(patterns, excludes);
  REQUIRE(made);
  return *made;
}

/// Whether a scan from the roots comes to the file and takes it.
bool found(const Sources& sources, const std::string& folder, const std::string& name) {
  for (std::size_t at = 1; at != std::string::npos; at = folder.find('/', at + 1))
    if (!sources.enters(folder.substr(0, folder.find('/', at)))) return false;
  return sources.wanted(folder, name, name) != Wanted::no;
}

}  // namespace

TEST_CASE("a folder that is named, or that a pattern matches, is walked") {
  struct Row {
    std::string pattern, folder, name;
    bool found;
  };
  for (const Row& row : {
           Row{"/logs", "/logs", "a.log", true},
           {"/logs", "/logs/x/y", "a.log", true},
           {"/logs", "/log", "a.log", false},
           {"/runs/*/logs/node-1", "/runs/7/logs/node-1", "a.log", true},
           {"/runs/*/logs/node-1", "/runs/7/logs/node-1/x/0", "stdout.log", true},
           {"/runs/*/logs/node-1", "/runs/7/logs/node-2/x/0", "stdout.log", false},
           {"/runs/*/logs/node-1", "/runs/7/8/logs/node-1", "a.log", false},
           {"/runs/**", "/runs/7/8", "a.log", true},
           {"/runs/**/logs", "/runs/7/8/logs/x", "a.log", true},
           {"/runs/**/logs", "/runs/7/8/other", "a.log", false},
           {"/logs/*.log", "/logs", "a.log", true},
           {"/logs/*.log", "/logs", "a.out", false},
           {"/logs/*.log", "/logs/x", "a.log", false},
           {"/logs/**/*.log", "/logs/x/y", "a.log", true},
       }) {
    CAPTURE(row.pattern);
    CAPTURE(row.folder);
    CHECK(found(sources({row.pattern}), row.folder, row.name) == row.found);
  }
}

TEST_CASE("what is excluded is excluded with all below it") {
  const Sources some = sources({"/runs/*"}, {"/runs/*/checkpoints", "/runs/**/*.pt"});
  CHECK(found(some, "/runs/7", "a.log"));
  CHECK_FALSE(found(some, "/runs/7/checkpoints/x", "a.log"));
  CHECK_FALSE(found(some, "/runs/7/x", "model.pt"));
}
