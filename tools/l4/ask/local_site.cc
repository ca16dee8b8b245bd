#include "tools/l4/ask/local_site.h"

#include <algorithm>
#include <system_error>

#include "common/base/folder_lock.h"
#include "tools/l4/ask/client_file.h"

namespace l4::ask {

namespace fs = std::filesystem;

fs::path local_states() {
  fs::path state = of_environment("XDG_STATE_HOME");
  if (!state.is_absolute()) {  // a relative one is to be ignored, says the XDG specification
    const fs::path home = of_environment("HOME");
    state = home.is_absolute() ? home / ".local" / "state" : fs::path();
  }
  return state.empty() ? state : state / "l4" / "local";
}

std::vector<fs::path> running_local_sites() {
  std::vector<fs::path> files;
  std::error_code failed;
  for (fs::directory_iterator at(local_states(), failed), end; !failed && at != end;
       at.increment(failed)) {
    fs::path file = at->path() / kClientFileName;
    std::error_code absent;
    if (fs::exists(file, absent) && FolderLock::is_held(at->path()))
      files.push_back(std::move(file));
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace l4::ask
