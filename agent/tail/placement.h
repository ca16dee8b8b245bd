// Decides which part each file holds, and follows parts to the files that they move to.
//
// Place in the flow: Scanner gives the files of a folder -> here -> parts that may hold bytes ->
// Reader. A part is renamed, copied, packed, cut back or deleted; its text tells what it has
// become (TextMatcher). A file whose text no part has becomes a new part. Private to agent/tail;
// one thread.
#pragma once

#include <cstdint>
#include <set>

#include "agent/tail/text_matcher.h"

namespace l4::tail {

class Placement {
 public:
  Placement(Context& context, Folders& folders, OpenFiles& open_files)
      : context_(context),
        folders_(folders),
        probe_(context, folders, open_files),
        matcher_(context, open_files) {}

  /// A file of a part that is known: it may have been renamed, or written to.
  void follow(Folder& folder, const FolderEntry& entry, LogPart& part);
  /// Identifies a file that belongs to no part. `first_round`: the file may only become the new
  /// file of a part that lost its old one.
  void inspect(Folder& folder, const FolderEntry& entry, bool first_round);
  /// Finds the parts of the log that have lost their text; called first, because the file that
  /// turned up may hold the text that another file lost by truncation.
  void verify_relatives(Folder& folder, const FolderEntry& entry);

  /// While a scan changes names, parts are not put in order: one name that is out of date would put
  /// its part among the wrong ones.
  void defer_order() { order_deferred_ = true; }
  void restore_order();

  /// The name of a part leads elsewhere or nowhere.
  void lose_name(LogPart& part);
  /// The file of a part holds another text now.
  void lose_file(LogPart& part);
  /// The part takes over a copy of its text, if there is one. False: nothing of it can be found.
  bool adopt_copy(LogPart& part);
  /// The search for a part, or the time that its deleted file was held open, is over.
  void give_up(LogPart& part, Missing why);
  /// Closes a deleted file that is held open.
  void release(LogPart& part);
  /// True if the file of a part holds no more than the first `bytes` of the part's text: another
  /// part goes on in the file.
  bool cut_back(LogPart& part, std::uint64_t bytes);
  /// The text of the file from `bytes` on belongs to another part.
  void go_on_behind(LogPart& part, std::uint64_t bytes);

 private:
  void assign(LogPart& part, Folder& folder, const FolderEntry& entry);
  void assign(LogPart& part, const Candidate& file);
  void resolve(Candidate& file, Inspection& inspection, bool first_round);
  void add_part(Candidate& file);
  void forget_name(const LogPart& part);
  void warn_truncated(TailedLog& log);

  Context& context_;
  Folders& folders_;
  FileProbe probe_;
  TextMatcher matcher_;
  bool order_deferred_ = false;
  std::set<LogId> unarranged_;  // logs that wait for `restore_order`
  bool warned_files_ = false;
};

}  // namespace l4::tail
