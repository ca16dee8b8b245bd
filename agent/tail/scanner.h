// Which files there are, and which text each of them holds.
//
// Place in the flow: notices and polls -> here -> parts that may hold bytes -> reader. Reads
// folders, follows names and inodes, tells a log from other files, and finds what a part has become
// (match): renamed, copied, packed, deleted. Private to agent/tail; one thread. A folder is watched
// before it is listed, so nothing falls between.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent/tail/context.h"
#include "agent/tail/sources.h"
#include "agent/tail/watcher.h"

namespace l4::tail {

class Scanner {
 public:
  Scanner(Context& context, Sources sources, std::unique_ptr<Watcher> watcher);

  int fd() const { return watcher_->fd(); }
  bool read_notices();  ///< true if there were any
  /// Roots are looked for, and for 0 all folders read again.
  void poll(std::uint64_t which);
  void folder_due(const std::string& folder);
  /// The folder of a path is to be read again.
  void changed(const std::string& path);
  /// The log that a file belongs to, as far as its name tells.
  std::string base_of(const std::string& folder, const std::string& name);
  /// Reads folders that may have changed, some 20,000 names at once. True if there are more.
  bool work();

  /// Opens a file; if there are too many, the one used longest ago is closed for it.
  Outcome<std::unique_ptr<File>> open_file(const std::string& path);
  bool make_room();  ///< closes one; false if none is open
  /// The file of a part has another text now: finds where the part is, and what the file is.
  void replaced(LogPart& part);
  /// True if the file of a part holds but a beginning of what was read: another part has it now.
  bool cut_back(LogPart& part, std::uint64_t bytes);
  /// What is written from `bytes` on is another part's text.
  void go_on_behind(LogPart& part, std::uint64_t bytes);
  /// The name of a part leads elsewhere or nowhere.
  void lose_name(LogPart& part);
  /// Nothing of the part is left to be found, unless a copy is. True if one took its place.
  bool adopt_copy(LogPart& part);
  /// The search for a part, or the time it was held open, is over.
  void give_up(LogPart& part, Missing why);
  /// Of one that was deleted and is held open.
  void let_go(LogPart& part);

 private:
  struct Look {  // a file that is no part, as it was looked at
    std::uint64_t inode = 0, bytes = 0;
    TimeMs modified{};
    bool decided = false, told = false;
    Millis since{0}, retry{0}, backoff{0};
  };
  struct Folder {
    std::string path;
    int watch = -1;
    bool blind = false, dirty = false, told = false, whole = false;
    bool writes = true;                       // noticed
    bool waiting = false;                     // for some file to become plain
    Millis rearm{0}, alarm{0};                // noted, 0: none
    std::map<std::string, std::string> only;  // logs wanted here, if not `whole`, and their links
    std::unordered_map<std::string, LogPart*> parts;
    std::unordered_map<std::string, Look> looks;
    std::vector<LogPart*> displaced;  // others have their names, in this scan
    std::set<std::string> verified;   // logs, in this scan
    std::vector<std::uint64_t> hot;   // parts that are polled while `writes` is off
    std::size_t notices = 0;
    std::set<std::string, std::less<>> written;  // since the last look
  };
  struct Seen {
    std::string name;
    Status status;
    std::string base;  // name of its log
  };
  using Names = std::set<std::string, std::less<>>;
  enum class TextMatch : std::uint8_t { no, maybe, yes };
  struct Newcomer {
    Folder& folder;
    const Seen& seen;
    std::string path = {}, head = {};
    std::uint64_t bytes = 0;  // of the text that begins with `head`; 0 if it is packed
    bool waited = false;      // long enough for a copy to be complete
    std::unique_ptr<TextFile> text = {};
    bool rotated() const { return seen.name != seen.base; }
  };

  Folder& folder_at(const std::string& path);
  void mark(Folder& folder);
  void set_alarm(Folder& folder, Millis at);
  void find_roots();
  void arm(Folder& folder, bool writes);
  void lose_folder(Folder& folder, int error);
  void take_notice(const Notice& notice);
  void end_notices(Folder& folder);
  std::size_t scan(Folder& folder);
  void arrange_logs();
  void settle_resumed();
  std::vector<Seen> list(Folder& folder, const std::vector<std::string>& names);
  void link(Folder& folder, const std::string& name);
  std::string base_of(const std::string& folder, const std::string& name, const Names& names);
  bool wanted(const Folder& folder, const std::string& base, const std::string& name);
  void follow(Folder& folder, const Seen& seen, LogPart& part);
  void tell_truncated(TailedLog& log);
  void lose_file(LogPart& part);
  void forget_name(const LogPart& part);
  void verify_relatives(Folder& folder, const Seen& seen);
  void newcomer(Folder& folder, const Seen& seen, bool first_round);
  bool look_into(Newcomer& file, Look& look);
  Outcome<bool> measure(Newcomer& file);
  bool is_log(const Newcomer& file, Look& look);
  void place_newcomer(Newcomer& file, Look& look, bool first_round);
  std::optional<std::string> text_of(const LogPart& part, std::uint64_t offset, std::size_t bytes);
  TextMatch match_whole(const LogPart& part, Newcomer& file);
  bool same_text(const LogPart& part, Newcomer& file);
  bool still_growing(const Newcomer& file) const;
  TextMatch match(const LogPart& part, Newcomer& file);
  TextMatch match_ending(const LogPart& part, Newcomer& file);
  bool same_beginning(const LogPart& part, Newcomer& file, std::uint64_t bytes);
  void take_place(LogPart& part, Folder& folder, const Seen& seen);
  void take_place(LogPart& part, const Newcomer& file);
  void add_part(Newcomer& file);
  void not_opened(Newcomer& file, Look& look, int error);

  Context& context_;
  Sources sources_;
  std::unique_ptr<Watcher> watcher_;
  std::unordered_map<std::string, std::unique_ptr<Folder>> folders_;
  std::unordered_map<int, Folder*> watches_;
  std::set<std::string> missing_roots_;
  std::deque<std::string> dirty_;
  std::set<Folder*> noticed_;
  std::uint64_t scan_ = 0;
  bool names_settle_ = false;  // some names lead elsewhere yet; meanwhile:
  std::set<LogId> unarranged_;
  bool told_limit_ = false, told_overflow_ = false, told_files_ = false, told_open_ = false;
};

}  // namespace l4::tail
