// A sink that keeps the bytes that it gets, and commits them on request, as an aggregator would.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/tail/tailer.h"

namespace l4::tail {

class Collector : public Sink {
 public:
  struct Loss {
    std::uint64_t key, from, to;
    Missing why;
  };

  void log_begins(const LogBegin& log) override {
    CHECK(!logs.contains(log.log));
    logs[log.log] = log.path;
  }
  void part(const TextPosition& place, std::uint64_t) override {
    at_[place.log] = place.file.key;
    users.push_back(place.user);
  }
  void bytes(const TextPosition& place, std::string_view bytes) override {
    CHECK(logs.contains(place.log));
    CHECK_MESSAGE(at_[place.log] == place.file.key, "bytes without part");
    Text& text = texts[place.file.key];
    CHECK_MESSAGE(place.offset == text.to, "a gap or twice: " << place.path);
    text.to = place.offset + bytes.size();
    order.push_back({place.log, std::string(bytes)});
    events.push_back({place.file.key, std::string(bytes)});
  }
  void missing(const TextPosition& place, std::uint64_t to, Missing why) override {
    CHECK(logs.contains(place.log));
    CHECK(place.offset == texts[place.file.key].to);
    texts[place.file.key].to = to;
    at_.erase(place.log);
    losses.push_back({place.file.key, place.offset, to, why});
    if (is_loss(why)) lost += to - place.offset;
  }
  void quiet(LogId log) override { quiets.push_back(log); }
  void log_ends(LogId log) override {
    CHECK(logs.contains(log));
    ended.push_back(log);
    logs.erase(log);
  }
  void forgotten(const wire::FileId& file) override { forgot.push_back(file.key); }
  void warning(const wire::Warning& warning) override { warnings.push_back(warning); }

  /// All that was given is counted; the positions stand in `committed`.
  void commit(Tailer& tailer) {
    for (auto& event : events) counted += event.second;
    events.clear();
    for (auto& [key, text] : texts) {
      if (text.to > text.committed) tailer.commit(key, text.to, 0);
      text.committed = text.to;
    }
  }
  /// Bytes that were given and not committed are given again.
  void forget_uncommitted() {
    events.clear();
    for (auto& [key, text] : texts) text.to = text.committed;
    at_.clear();
    logs.clear();
  }
  std::string text_of_all() const {
    std::string all;
    for (const auto& [log, text] : order) all += text;
    return all;
  }
  std::size_t warned(std::string_view kind) const {
    return static_cast<std::size_t>(std::ranges::count(warnings, kind, &wire::Warning::kind));
  }

  struct Text {
    std::uint64_t to = 0, committed = 0;
  };
  std::map<std::uint64_t, Text> texts;                        // by key
  std::map<LogId, std::string> logs;                          // alive
  std::vector<std::pair<LogId, std::string>> order;           // all bytes, as they came
  std::vector<std::pair<std::uint64_t, std::string>> events;  // not committed
  std::string counted;                                        // committed bytes, as they came
  std::vector<Loss> losses;
  std::uint64_t lost = 0;
  std::vector<LogId> quiets, ended;
  std::vector<std::uint64_t> forgot;
  std::vector<wire::Warning> warnings;
  std::vector<std::optional<std::uint32_t>> users;  // of parts, as they came

 private:
  std::map<LogId, std::uint64_t> at_;
};

}  // namespace l4::tail
