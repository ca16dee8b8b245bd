// Where `l4 local` keeps its states, and which of them run now, so that the other commands find it
// without options.
//
// Flow: `l4 local` holds the lock of its folder and writes client.toml there; find_client_file
// looks for the folders whose lock is held. A killed `l4 local` holds no lock, so what it left
// behind is not asked. No state.
#pragma once

#include <filesystem>
#include <vector>

namespace l4::ask {

/// $XDG_STATE_HOME/l4/local, else ~/.local/state/l4/local; empty if neither variable is set.
std::filesystem::path local_states();

inline constexpr auto kClientFileName = "client.toml";

/// The client.toml of each `l4 local` of this user that runs now, sorted.
std::vector<std::filesystem::path> running_local_sites();

}  // namespace l4::ask
