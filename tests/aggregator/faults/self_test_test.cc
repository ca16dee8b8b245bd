// The test of the library: the errors in a bad library, and that the shipped one has none.
#include "aggregator/faults/self_test.h"
#include "tests/temp_folder.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "offline/message_of.h"

namespace l4::faults {
namespace {

std::vector<EntryError> findings_of(const std::filesystem::path& folder) {
  const auto library = Library::load(folder);
  REQUIRE_MESSAGE(library.has_value(), library.error().text());
  return test(*library, {offline::message_of});
}

TEST_CASE("self-test: the library that ships") {
  const auto findings = findings_of(L4_SOURCE_DIR "/config/faults");
  CHECK(findings.empty());
  for (const EntryError& finding : findings) MESSAGE(finding.text());
}

/// Findings in one entry, as rows of `line: entry: key: reason`.
class BadLibrary {
 public:
  void add(const std::string& id, const std::string& title, const std::string& lists,
           const std::string& cause = {}) {
    std::ofstream(folder_.path() / "bad.toml", std::ios::app)
        << "[[fault]]\nid = '" << id << "'\ntitle = '" << title
        << "'\ncategory = 'user'\nsubcategory = 'config'\nscope = 'rank'\nseverity = 'error'\n"
        << "cause = '" << (cause.empty() ? "Because of " + id : cause) << "'\nfix = 'Mend " << id
        << "'\naction = 'Act.'\n"
        << lists << '\n';
  }
  std::vector<std::string> rows() const {
    std::vector<std::string> rows;
    for (const EntryError& finding : findings_of(folder_.path())) {
      CHECK(finding.file == (folder_.path() / "bad.toml").string());
      rows.push_back(std::to_string(finding.line) + ": " + finding.entry + ": " + finding.key +
                     ": " + finding.reason);
    }
    return rows;
  }

 private:
  l4::test::TempFolder folder_;
};

using Rows = std::vector<std::string>;

TEST_CASE("self-test: a good entry has no finding") {
  BadLibrary library;
  library.add("good", "A good one",
              "patterns = ['rank {n} lost its link', 'no link\\b.* errno {n}']\n"
              "matches = ['[rank3]: 2024-05-03 10:00:00,123 ERROR rank 3 lost its link',\n"
              "  'no link: errno 19']\nrejects = ['rank 3 found its link']");
  CHECK(library.rows() == Rows{});
}

TEST_CASE("self-test: lines and patterns") {
  BadLibrary library;
  library.add("lines", "Lines",
              "patterns = [\n  'failed with state 7 of {n}',\n  'never seen here',\n  'ab<*>']\n"
              "matches = [\n  'failed with state 7 of 9',\n  'something else']\n"
              "rejects = ['never failed',\n  'this was never seen here before']");
  const auto rows = library.rows();
  CHECK(rows ==
        Rows{"13: lines: patterns: no line of matches is there for it",
             "14: lines: patterns: <*> stands for itself; write {n} or {w}",
             "14: lines: patterns: has no 6 constant characters in a row, and no code is asked for",
             "14: lines: patterns: no line of matches is there for it",
             "16: lines: matches: the template 'failed with state <*> of <*>' is not matched",
             "17: lines: matches: is not matched", "19: lines: rejects: is matched"});
}

TEST_CASE("self-test: words, and who answers first") {
  BadLibrary library;
  const std::string lists = "patterns = ['link went down']\nmatches = ['link went down']\n";
  library.add("one", "The same", lists + "rejects = ['x']");
  library.add("two", "The same", lists + "rejects = ['x']");
  library.add("Three", "A sentence.",
              "parameters = { errno = ['5'] }\npatterns = ['errno']\n"
              "matches = ['errno 5']\nrejects = ['errno 6']");
  const auto rows = library.rows();
  CHECK(rows == Rows{"16: two: title: is the title of one too",
                     "25: two: matches: is told after one",
                     "28: Three: id: must be of a-z, 0-9 and _",
                     "29: Three: title: must have at most 90 characters and no full stop"});
}

TEST_CASE("self-test: a sentence for more than four entries") {
  BadLibrary library;
  for (const char* id : {"aa", "bb", "cc", "dd", "ee"}) {
    const std::string line = std::string("['all of it failed: ") + id + "']";
    library.add(id, id, "patterns = " + line + "\nmatches = " + line + "\nrejects = ['x']",
                "It broke.");
  }
  CHECK(library.rows() ==
        Rows{"60: ee: cause: stands in 4 entries before, first in aa; say how they differ"});
}

}  // namespace
}  // namespace l4::faults
