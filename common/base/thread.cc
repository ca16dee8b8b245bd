#include "common/base/thread.h"

#include <pthread.h>

#include "common/base/check.h"

namespace l4 {

void name_this_thread(std::string_view name) {
  L4_CHECK(!name.empty() && name.size() <= 15, "{} is no name of a thread", name);
  pthread_setname_np(pthread_self(), std::string(name).c_str());  // can only fail by its length
}

}  // namespace l4
