// Makes a large job out of a small one: its files are repeated with later times, other numbers and
// some other words, so that lines differ and there are many templates.
//
// usage: l4_replicate FROM TO FILES MEGABYTES [SEED [WORDS_PERMILLE]]
// FROM holds NODE/FILE logs; TO gets the same names (FILES of them, more nodes if needed), each
// file with its share of MEGABYTES. Each repetition shifts the times by the span of the file.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kStampBytes = 19;  // 2026-05-28 17:03:11

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

bool is_stamp(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00 00:00:00";
  if (text.size() < kStampBytes) return false;
  for (std::size_t i = 0; i < kStampBytes; ++i) {
    if (i == 10 && text[i] == 'T') continue;
    if (kForm[i] == '0' ? !is_digit(text[i]) : text[i] != kForm[i]) return false;
  }
  return true;
}

int number(std::string_view text, std::size_t at, std::size_t size) {
  int value = 0;
  std::from_chars(text.data() + at, text.data() + at + size, value);
  return value;
}

std::int64_t seconds_of(std::string_view stamp) {
  using namespace std::chrono;
  const sys_days day = year{number(stamp, 0, 4)} / number(stamp, 5, 2) / number(stamp, 8, 2);
  return day.time_since_epoch().count() * 86400LL + number(stamp, 11, 2) * 3600 +
         number(stamp, 14, 2) * 60 + number(stamp, 17, 2);
}

void append_stamp(std::string& out, std::int64_t seconds, char between) {
  using namespace std::chrono;
  const sys_days day{days{seconds / 86400}};
  const year_month_day date{day};
  const std::int64_t rest = seconds % 86400;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02u%c%02d:%02d:%02d", int{date.year()},
                unsigned{date.month()}, unsigned{date.day()}, between,
                static_cast<int>(rest / 3600), static_cast<int>(rest / 60 % 60),
                static_cast<int>(rest % 60));
  out += text.data();
}

class Replicator {
 public:
  Replicator(std::string text, std::uint64_t seed, unsigned words_permille)
      : text_(std::move(text)), random_(seed), permille_(words_permille) {
    std::int64_t first = 0, last = 0;
    for (std::size_t i = 0; i + kStampBytes <= text_.size(); ++i)
      if (const std::string_view rest(text_.data() + i, kStampBytes); is_stamp(rest)) {
        last = std::max(last, seconds_of(rest));
        first = first == 0 ? seconds_of(rest) : std::min(first, seconds_of(rest));
        i += kStampBytes;
      }
    span_ = last - first + 1;
  }

  void write(std::ostream& out, std::uint64_t bytes) {
    std::string turn;
    std::uint64_t written = 0;
    for (std::int64_t k = 0; written < bytes; ++k) {
      turn.clear();
      say_again(k * span_, turn);
      const std::size_t size =
          static_cast<std::size_t>(std::min<std::uint64_t>(turn.size(), bytes - written));
      const std::size_t end = turn.find('\n', size > 0 ? size - 1 : 0);
      const std::size_t whole = end == std::string::npos ? turn.size() : end + 1;
      out.write(turn.data(), static_cast<std::streamsize>(whole));
      written += whole;
    }
  }

 private:
  void say_again(std::int64_t later, std::string& out) {
    const std::string_view text(text_);
    for (std::size_t i = 0; i < text.size();) {
      if (is_digit(text[i]) && is_stamp(text.substr(i))) {
        append_stamp(out, seconds_of(text.substr(i)) + later, text[i + 10]);
        i += kStampBytes;
      } else if (is_digit(text[i])) {
        i = other_number(text, i, out);
      } else if (is_letter(text[i])) {
        i = other_word(text, i, out);
      } else {
        out += text[i++];
      }
    }
  }

  std::size_t other_number(std::string_view text, std::size_t i, std::string& out) {
    std::size_t end = i;
    while (end < text.size() && is_digit(text[end])) ++end;
    const bool keep = end - i < 3 || random_() % 10 < 3;
    out += text[i];
    for (++i; i < end; ++i) out += keep ? text[i] : static_cast<char>('0' + random_() % 10);
    return end;
  }

  std::size_t other_word(std::string_view text, std::size_t i, std::string& out) {
    std::size_t end = i;
    while (end < text.size() && is_letter(text[end])) ++end;
    if (end - i < 3 || random_() % 1000 >= permille_) {
      out += text.substr(i, end - i);
      return end;
    }
    for (; i < end; ++i) out += static_cast<char>('a' + random_() % 26);
    return end;
  }

  std::string text_;
  std::minstd_rand random_;
  unsigned permille_;
  std::int64_t span_ = 1;
};

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: l4_replicate FROM TO FILES MEGABYTES [SEED [WORDS_PERMILLE]]\n");
    return 2;
  }
  const fs::path from(argv[1]), to(argv[2]);
  const auto count = static_cast<std::size_t>(std::atoll(argv[3]));
  const auto bytes = static_cast<std::uint64_t>(std::atoll(argv[4])) * 1'000'000 / count;
  const auto seed = static_cast<std::uint64_t>(argc > 5 ? std::atoll(argv[5]) : 1);
  const auto permille = static_cast<unsigned>(argc > 6 ? std::atoi(argv[6]) : 20);
  const auto files = files_of(from);
  if (files.empty()) {
    std::fprintf(stderr, "l4_replicate: there is no file in %s\n", argv[1]);
    return 3;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const fs::path& file = files[i % files.size()];
    fs::path name = fs::relative(file, from);
    if (i >= files.size())
      name = name.parent_path().string() + "-copy" + std::to_string(i / files.size()) + "/" +
             name.filename().string();
    fs::create_directories((to / name).parent_path());
    std::ifstream in(file, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    std::ofstream out(to / name, std::ios::binary);
    Replicator(std::move(text), seed * 1'000'003 + i, permille).write(out, bytes);
  }
  return 0;
}
