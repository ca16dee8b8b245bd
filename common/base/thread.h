// Threads with names, which `top -H`, a debugger and a core file show.
//
// `start_thread` gives the `std::jthread` to the caller as its owner: its destructor requests a
// stop and joins. The function may accept a `std::stop_token`.
#pragma once

#include <concepts>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace l4 {

/// Sets the name of the calling thread: 1 to 15 characters, as Linux has it.
void name_this_thread(std::string_view name);

/// Runs the function in a new thread of that name.
template <class Function>
std::jthread start_thread(std::string name, Function function) {
  return std::jthread([name = std::move(name),
                       function = std::move(function)](const std::stop_token& stop) mutable {
    name_this_thread(name);
    if constexpr (std::invocable<Function&, const std::stop_token&>)
      function(stop);
    else
      function();
  });
}

}  // namespace l4
