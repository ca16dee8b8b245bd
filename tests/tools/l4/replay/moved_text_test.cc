// Random lines, of pieces that times are made of, and of noise: nothing breaks, and only the
// characters of times change. L4_REPLAY_SEED=N plays one seed.
#include "tools/l4/replay/moved_text.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>
#include <string>

#include "tools/l4/replay/line_times.h"
#include "tools/l4/replay/stamp_finder.h"

namespace l4::replay {
namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;

const TimeMs kJobEnd = parse_time("2026-11-20T16:00:00Z").value();

class Lines {
 public:
  explicit Lines(std::uint64_t seed) : random_(seed) {}

  std::string text() {
    std::string out;
    for (int line = 0; line < 12; ++line) {
      for (std::uint64_t piece = below(8); piece > 0; --piece) add(out);
      if (line < 11 || below(2) == 0) out += '\n';
    }
    return out;
  }

 private:
  std::uint64_t below(std::uint64_t n) { return random_() % n; }

  void add(std::string& out) {
    static const std::vector<std::string> kPieces{
        "2026-11-20 15:54:21,123 ",
        "2026-11-20T15:54:21.123456Z ",
        "[2026-11-20 15:54:21] ",
        "I1120 15:54:21.123456 77 file.cpp:49] ",
        "Fri Nov 20 15:54:21 2026 ",
        "Nov  2 03:54:21 ",
        "11/20/2026 03:54:21 PM ",
        "20261120T155421Z ",
        "1795190061.123 ",
        "1795190061123 ",
        "{\"time\": \"2026-11-20T15:54:21Z\", \"message\": \"",
        "\"}",
        "stdout F ",
        "[rank3]: ",
        "15:54:21 ",
        "13: ",
        "node-1: ",
        "host:12:34 [0] ",
        "2026",
        "99:99:99 ",
        "\r",
        "\x1b[31m",
        "2026-02-30 10:00:00 ",
        "{\"log\":\"",
        "\\n\",\"stream\":\"stdout\",\"time\":\"",
        "INFO ",
        "text ",
        "0",
        "-",
        ":",
        "AM ",
        "Jan ",
        "Mon "};
    if (below(6) > 0) {
      out += kPieces[below(kPieces.size())];
      return;
    }
    for (std::uint64_t n = below(6); n > 0; --n)
      if (const auto c = static_cast<char>(below(256)); c != '\n') out += c;
  }

  std::mt19937_64 random_;
};

void play(std::uint64_t seed) {
  CAPTURE(seed);
  Lines lines{seed};
  const std::string text = lines.text();
  CAPTURE(text);
  const LineTimes times = read_times(text, kJobEnd);
  StampFinder finder{kJobEnd - 24h, kJobEnd};
  UnmovedLines unmoved;
  const MovedText moved_text{text, finder.find(text, times, kJobEnd, 960h, unmoved),
                             finder.forms()};
  std::mt19937_64 random{seed};
  for (const seconds shift : {0s, 1s, seconds{960h}, -seconds{26h}}) {
    std::string moved;
    moved_text.append(0, text.size(), shift, moved);
    CHECK(std::ranges::count(moved, '\n') == std::ranges::count(text, '\n'));
    if (shift == 0s) CHECK(moved == text);
    // Written in two parts it is the same.
    const std::uint64_t cut = random() % (text.size() + 1);
    std::string parts;
    moved_text.append(0, cut, shift, parts);
    moved_text.append(cut, text.size(), shift, parts);
    CHECK(parts == moved);
    // What is no place stays.
    std::size_t at = 0;
    for (const Place& place : moved_text.places()) {
      REQUIRE(place.at >= at);
      at = place.at + finder.forms()[place.form].size();
      REQUIRE(at <= text.size());
    }
  }
}

TEST_CASE("moved text: random lines") {
  if (const char* one = std::getenv("L4_REPLAY_SEED")) return play(std::strtoull(one, nullptr, 10));
  for (std::uint64_t seed = 1; seed <= 40; ++seed) play(seed);
}

TEST_CASE("moved text: a stamp that becomes longer, cut at each byte") {
  const std::string text = "11/9/2026 9:59:59 PM one\n11/9/2026 9:59:59 PM two\n";
  const LineTimes times = read_times(text, kJobEnd);
  StampFinder finder{*times.lines[0].time, *times.lines[0].time};
  UnmovedLines unmoved;
  const MovedText moved_text{text, finder.find(text, times, kJobEnd, 960h, unmoved),
                             finder.forms()};
  for (std::uint64_t cut = 0; cut <= text.size(); ++cut) {
    std::string moved;
    moved_text.append(0, cut, seconds{24h + 1s}, moved);
    moved_text.append(cut, text.size(), seconds{24h + 1s}, moved);
    CHECK(moved == "11/10/2026 10:00:00 PM one\n11/10/2026 10:00:00 PM two\n");
  }
}

}  // namespace
}  // namespace l4::replay
