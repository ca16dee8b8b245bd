// Random histories of files under a tailer that is killed now and then. The model knows where every
// byte stands; it demands that
//   1. each byte is counted at most once, and a counted byte is not reported as lost;
//   2. text that has a name once the tailer has had time is read by then;
//   3. text that the tailer knew of and that is gone is reported as lost;
//   4. bytes of a log come in the order in which they were written.
// L4_TAIL_SEEDS=100000 plays as many histories; L4_TAIL_SEED=17 only that one, and says what it
// does.
#include <doctest/doctest.h>
#include <boost/container/flat_set.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <random>
#include <sstream>

#include "agent/tail/tailer.h"
#include "tests/agent/tail/world.h"
#include "tests/temp_folder.h"

namespace l4::tail {
namespace {

using Ids = boost::container::flat_set<std::uint32_t>;  // mostly grow at their end

class History : public Sink {
 public:
  History(std::uint64_t seed, FakeDisk* fake, Disk& disk, const std::string& folder)
      : seed_(seed), random_(seed), fake_(fake), world_(disk, folder) {
    const std::size_t bytes[] = {7, 64, 4096, 256 << 10};
    options_.sources = {folder};
    options_.bytes_per_file = bytes[below(4)];
    options_.bytes_per_turn = options_.bytes_per_file * (1 + below(3));
    options_.descriptors_max = below(4) == 0 ? 4 : 256;
    blind_ = below(4) == 0;
    if (below(3) == 0) banner_ = "==== a banner that every file begins with ====\n";
    start({});
  }

  bool play(int steps) {
    for (int i = 0; i < steps && problem_.empty(); ++i) {
      step();
      if (fake_ != nullptr) fake_->now = wall();
    }
    settle();
    commit();
    settle();
    check_end();
    if (!problem_.empty())
      MESSAGE("seed " << seed_ << ": " << problem_ << "\n" << (loud_ ? "" : said_.str()));
    return problem_.empty();
  }

  void log_begins(const LogBegin& log) override { logs_[log.log] = log.path; }
  void part(const TextPosition&, std::uint64_t) override {}
  void quiet(LogId) override {}
  void log_ends(LogId log) override { logs_.erase(log); }
  void forgotten(const wire::FileId& file) override {
    require(keys_[file.key].committed == keys_[file.key].to, "forgotten before it was committed");
    forgotten_.insert(file.key);
  }
  void warning(const wire::Warning&) override {}
  void bytes(const TextPosition& place, std::string_view bytes) override {
    Key& key = keys_[place.file.key];
    say() << "   " << place.path << " " << std::hex << (place.file.key >> 48) << std::dec << " ["
          << place.offset << ", " << place.offset + bytes.size() << ")\n";
    require(logs_.contains(place.log), "bytes of a log that has not begun");
    require(key.to == place.offset, "bytes that do not follow those before");
    key.to = place.offset + bytes.size();
    key.told = {place.file, place.path};
    const World::Content& content = world_.content(place.file.inode);
    if (content.text.substr(place.offset, bytes.size()) != bytes)
      return require(false, "bytes that do not stand there");
    std::uint32_t& last = last_[logs_[place.log]];
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const std::uint32_t number = content.numbers[place.offset + i];
      require(number >= last || late_, "bytes out of order");
      last = number;
      require(given_.insert(number).second, "given twice");
      require(!lost_.contains(number), "given though reported as lost");
    }
  }
  void missing(const TextPosition& place, std::uint64_t to, Missing why) override {
    Key& key = keys_[place.file.key];
    say() << "   " << place.path << " " << std::hex << (place.file.key >> 48) << std::dec
          << " missing [" << place.offset << ", " << to << ") " << reason_of(why) << "\n";
    require(key.to == place.offset, "missing bytes that do not follow those before");
    key.told = {place.file, place.path};
    if (why == Missing::counted) {
      const World::Content& content = world_.content(place.file.inode);
      for (std::uint64_t at = place.offset; at < std::min(to, content.numbers.size()); ++at)
        require(given_.contains(content.numbers[at]), "called counted and was not given");
      key.to = to;
      return;
    }
    for (std::uint64_t at = place.offset; at < to; ++at) {
      if (at >= key.numbers.size()) continue;
      require(!given_.contains(key.numbers[at]), "reported as lost though given");
      lost_.insert(key.numbers[at]);
    }
    key.to = to;
  }

 private:
  /// The aggregator's view of a file, from the last bytes that it got.
  struct Told {
    wire::FileId file;
    std::string path;
  };
  struct Key {
    std::uint64_t to = 0, committed = 0, lines = 0, known = 0;
    Told told, committed_as;
    std::vector<std::uint32_t> numbers;  // bytes of the part that a turn has seen
  };
  /// Counted positions, as the agent knew them at some time, or as the aggregator knows them.
  struct Memory {
    std::vector<Position> positions;
    std::map<std::uint64_t, Key> keys;
    Ids given, lost;
  };

  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
  TimeMs wall() const { return TimeMs{Millis{1'800'000'000'000} + now_}; }
  Now at() const {
    return {now_, fake_ != nullptr
                      ? wall()
                      : std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now())};
  }
  std::ostream& say() {
    if (problem_.empty()) return loud_ ? std::cerr : said_;
    after_.str("");
    return after_;
  }
  void require(bool holds, const char* what) {
    if (holds || !problem_.empty()) return;
    say() << "!! " << what << "\n";
    problem_ = what;
  }

  void start(const std::vector<Position>& positions, Known known = Known::by_the_aggregator) {
    options_.seed = random_();
    auto watcher = blind_             ? make_blind_watcher()
                   : fake_ != nullptr ? fake_->watcher()
                                      : std::move(*make_inotify_watcher());
    FileSystem& files = fake_ != nullptr ? *fake_ : real_file_system();
    tailer_.emplace(std::move(*Tailer::make(options_, files, std::move(watcher))));
    tailer_->resume(positions, known);
  }

  bool turn() {
    if (!tailer_) return false;
    const bool more = tailer_->turn(*this, at());
    for (const Position& position : tailer_->positions()) {
      Key& key = keys_[position.file.key];
      key.known = std::max(key.known, position.known);
      const World::Content& content = world_.content(position.file.inode);
      const bool same = content.numbers.size() >= key.numbers.size() &&
                        std::equal(key.numbers.begin(), key.numbers.end(), content.numbers.begin());
      if (same && position.known <= content.numbers.size())
        key.numbers.assign(content.numbers.begin(),
                           content.numbers.begin() + static_cast<std::ptrdiff_t>(position.known));
    }
    return more;
  }

  void pass(Millis time) {
    for (const Millis end = now_ + time; now_ < end; now_ += Millis{250})
      for (int i = 0; i < 3000 && turn(); ++i) {
      }
  }

  /// Lets enough time pass to find everything that can be found.
  void settle() {
    say() << "settle\n";
    if (fake_ != nullptr) fake_->lose_notices = false;
    pass(Millis{14'000});
    for (const std::string& name : world_.names())
      for (const std::uint32_t number : world_.of(name).numbers)
        if (!given_.contains(number)) {
          say() << "not given: byte " << number << " of " << name << "\n";
          return require(false, "stands there and was not given");
        }
  }

  void commit() {
    say() << "commit\n";
    for (auto& [id, key] : keys_) {
      if (key.to > key.committed) tailer_->commit(id, key.to, 0);
      key.committed = std::max(key.committed, key.to);
      key.committed_as = key.told;
    }
    for (const std::uint32_t number : given_) counted_.insert(number);
    for (const std::uint32_t number : lost_) counted_lost_.insert(number);
    if (below(2) == 0) remembered_ = memory(true);
  }

  Memory memory(bool of_the_agent) {
    Memory memory{{}, keys_, counted_, counted_lost_};
    std::erase_if(memory.keys, [](const auto& entry) { return entry.second.committed == 0; });
    for (auto& [id, key] : memory.keys) {
      key.to = key.committed;
      key.known = std::min(key.known, key.committed);
    }
    for (Position position : tailer_->positions()) {
      if (position.offset == 0) continue;
      require(memory.keys.contains(position.file.key), "committed though it is not counted");
      Key& key = memory.keys[position.file.key];
      if (!of_the_agent) {
        position.known = 0;
        position.path = key.committed_as.path;
        position.file = key.committed_as.file;
      }
      key.known = of_the_agent ? position.known : position.offset;
      memory.positions.push_back(position);
    }
    return memory;
  }

  void recall(const Memory& memory) {
    keys_ = memory.keys;
    given_ = counted_ = memory.given;
    lost_ = counted_lost_ = memory.lost;
    last_.clear();
  }

  /// A new agent without state reads again what is not counted.
  void expect_again() {
    given_ = counted_;
    lost_ = counted_lost_;
    for (auto& [id, key] : keys_) key.to = key.committed;
    logs_.clear();
    last_.clear();
  }

  void crash() {
    const std::uint32_t kind = below(3);
    static constexpr const char* kKinds[] = {"with its positions", "positions lost",
                                             "positions without sizes"};
    say() << "killed, " << kKinds[kind] << "\n";
    std::vector<Position> positions;
    for (Position position : tailer_->positions()) {
      if (position.offset == 0) {
        keys_.erase(position.file.key);
        continue;
      }
      Key& key = keys_[position.file.key];
      if (kind != 0) {
        position.known = 0;
        position.path = key.committed_as.path;
      }
      position.file = key.committed_as.file;
      key.known = kind != 0 ? position.offset : position.known;
      positions.push_back(position);
    }
    tailer_.reset();
    expect_again();
    if (below(2) == 0) change();
    start(positions);
  }

  /// Plays a killed agent that gets no answer: it reads on from positions that it saved some time
  /// before, and drops what it has read when it learns the committed positions.
  void crash_alone() {
    if (!remembered_ || below(2) == 0) return;
    say() << "killed, and alone\n";
    const Memory counted = memory(false);
    tailer_.reset();
    recall(*remembered_);
    logs_.clear();
    start(remembered_->positions, Known::by_us);
    alone_ = true;
    for (std::uint32_t i = below(6); i > 0 && problem_.empty(); --i) {
      change();
      pass(Millis{below(2'000)});
    }
    alone_ = false;
    if (!problem_.empty()) return;
    say() << "answered\n";
    const auto alone = keys_;
    recall(counted);
    const bool forgets = std::ranges::any_of(remembered_->positions, [&](const Position& position) {
      return !counted.keys.contains(position.file.key) ||
             std::ranges::none_of(counted.positions, [&](const Position& theirs) {
               return theirs.file.key == position.file.key;
             });
    });
    if (forgets) {  // the agent begins with another tailer
      logs_.clear();
      return start(counted.positions);
    }
    tailer_->resume(counted.positions, Known::by_the_aggregator);
    for (const Position& position : tailer_->positions()) {
      const auto found = alone.find(position.file.key);
      if (found == alone.end() || keys_.contains(found->first)) continue;
      keys_[found->first].known = found->second.known;
      keys_[found->first].numbers = found->second.numbers;
    }
    tailer_->rewind();
  }

  /// The agent starts again and keeps the tailer.
  void listen_anew() {
    say() << "another listener\n";
    expect_again();
    tailer_->begin_anew();
  }

  /// The agent ends, or begins anew.
  void other_agent() {
    switch (below(3)) {
      case 0:
        return crash();
      case 1:
        return crash_alone();
      default:
        return listen_anew();
    }
  }

  void check_end() {
    for (const auto& [id, key] : keys_)
      if (key.to < key.known) {
        say() << std::hex << (id >> 48) << std::dec << " ends at " << key.to << " of " << key.known
              << "\n";
        require(false, "known bytes neither given nor reported as lost");
      }
  }

  std::string text(std::uint32_t lines) {
    std::string text;
    for (std::uint32_t i = 0; i < lines; ++i)
      text += "line " + std::to_string(line_++) + " of a log that is written\n";
    return text;
  }

  void write(const std::string& name, std::uint32_t lines) {
    std::string some = text(lines);
    if (below(4) == 0) some.resize(1 + below(static_cast<std::uint32_t>(some.size())));
    const bool begins = !world_.has(name) || world_.of(name).text.empty();
    if (begins) some = banner_ + text(1) + some;
    say() << "write " << name << " " << some.size() << "\n";
    world_.append(name, some);
  }

  /// X.1 becomes X.2 and so on; the last is deleted.
  void shift(const std::string& log) {
    for (int n = 4; n >= 1; --n)
      for (const char* end : {"", ".gz"}) {
        const std::string name = log + "." + std::to_string(n) + end;
        if (!world_.has(name)) continue;
        say() << (n == 4 ? "delete " : "shift ") << name << "\n";
        if (n == 4)
          world_.remove(name);
        else
          world_.rename(name, log + "." + std::to_string(n + 1) + end);
      }
  }

  void pack(const std::string& log) {
    const std::string name = log + "." + std::to_string(1 + below(3));
    if (!world_.has(name)) return;
    say() << "pack " << name << "\n";
    world_.pack(name, name + ".gz");
  }

  /// A long text is cut back to a part that was read before or not, and written to again.
  void cut() {
    const std::string log = "d.log";
    if (!tailer_ || alone_ || options_.bytes_per_file < 4096) return;
    if (world_.has(log)) {
      shift(log);
      world_.rename(log, log + ".1");
    }
    write(log, 300 + below(300));
    settle();
    commit();
    if (below(2) == 0) {
      write(log, 100 + below(300));
      turn();
    }
    const auto size = static_cast<std::uint32_t>(world_.of(log).text.size());
    if (size <= 8192) return;
    const std::uint32_t bytes = 8192 + below(size - 8192);
    say() << "cut back " << log << " to " << bytes << "\n";
    world_.cut(log, bytes);
    remembered_.reset();  // the beginning alone does not identify the text
    pass(Millis{2'000});
    commit();
    if (below(2) == 0) write(log, 1 + below(5));
  }

  void change() {
    const std::string log = below(2) == 0 ? "a.log" : below(4) > 0 ? "b.log" : "d.log";
    const bool there = world_.has(log);
    switch (below(13)) {
      case 0:
        if (!there) return;
        shift(log);
        say() << "rename " << log << "\n";
        world_.rename(log, log + ".1");
        return;
      case 1:
        if (!there) return;
        shift(log);
        say() << "copy " << log << "\n";
        world_.copy(log, log + ".1");
        if (below(4) == 0) turn();
        if (below(4) == 0) write(log, 1);  // between copying and truncating
        say() << "truncate " << log << "\n";
        world_.truncate(log);
        return;
      case 2:
        if (!there) return;
        say() << "truncate " << log << "\n";
        return world_.truncate(log);
      case 3:
        if (!there) return;
        say() << "delete " << log << "\n";
        world_.remove(log);
        // May use the inode again.
        if (below(2) == 0) write(below(2) == 0 ? "c.log" : log, 1 + below(5));
        return;
      case 4:
        return pack(log);
      case 5:
        if (!world_.has(log + ".1") || world_.of(log + ".1").text.empty() || below(4) != 0) return;
        late_ = true;
        return write(log + ".1", 1);
      case 6:
        return below(3) == 0 ? cut() : void();
      default:
        return write(log, 1 + below(30));
    }
  }

  void step() {
    if (fake_ != nullptr && below(30) == 0) {
      fake_->lose_notices = !fake_->lose_notices;
      late_ = true;
    }
    if (fake_ != nullptr && below(30) == 0) {
      fake_->overflow = true;
      fake_->notes.clear();
    }
    now_ += Millis{below(300)};
    switch (below(10)) {
      case 0:
        return commit();
      case 1:
        return below(3) > 0 ? void(turn()) : other_agent();
      case 2:
        return below(3) == 0 ? settle() : pass(Millis{below(3'000)});
      case 3:
      case 4:
        turn();
        return;
      default:
        return change();
    }
  }

  std::uint64_t seed_;
  std::mt19937_64 random_;
  FakeDisk* fake_;
  World world_;
  Options options_;
  bool blind_ = false, late_ = false, alone_ = false;
  const bool loud_ = std::getenv("L4_TAIL_SEED") != nullptr;
  std::string banner_, problem_;
  std::ostringstream said_, after_;
  std::optional<Tailer> tailer_;
  Millis now_{1'000};
  std::uint32_t line_ = 10'000;
  std::map<LogId, std::string> logs_;
  std::map<std::string, std::uint32_t> last_;
  std::map<std::uint64_t, Key> keys_;
  std::set<std::uint64_t> forgotten_;
  Ids given_, counted_, lost_, counted_lost_;
  std::optional<Memory> remembered_;
};

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

void play_all(std::uint64_t seeds, const std::function<bool(std::uint64_t)>& play) {
  const std::uint64_t only = number_of("L4_TAIL_SEED", 0);
  if (only != 0) {
    CHECK(play(only));
    return;
  }
  int failed = 0;
  for (std::uint64_t seed = 1; seed <= number_of("L4_TAIL_SEEDS", seeds) && failed < 3; ++seed)
    if (!play(seed)) {
      ++failed;
      FAIL_CHECK("L4_TAIL_SEED=" << seed);
    }
}

#ifdef __clang__
constexpr std::uint64_t kHistories = 400;  // the sanitizers take six times as long for each
#else
constexpr std::uint64_t kHistories = 1'500;
#endif

TEST_CASE("tailer property: histories on a disk that is played") {
  play_all(kHistories, [](std::uint64_t seed) {
    FakeDisk disk;
    disk.now = TimeMs{Millis{1'800'000'000'000}};
    return History{seed, &disk, disk, "/logs"}.play(60);
  });
}

TEST_CASE("tailer property: histories on a real folder") {
  play_all(60, [](std::uint64_t seed) {
    test::TempFolder folder;
    RealDisk disk;
    return History{seed, nullptr, disk, folder.path().string()}.play(60);
  });
}

}  // namespace
}  // namespace l4::tail
