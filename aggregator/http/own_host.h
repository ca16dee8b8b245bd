// Whether a request is meant for this server, and by whom it was made a browser's: what protects a
// server without tokens from pages of other sites that a browser beside it has open.
//
// A page cannot choose the Host of a request but by a name that it owns and lets lead here (DNS
// rebinding), so names are taken only where they are known; an address cannot be anybody's name.
// Flow: unguarded -> here. Private to this room. Thread-safe, no state.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace l4::http {

/// `host`: the header, with a port or without. An IP address, localhost, or one of `names`.
bool is_own_host(std::string_view host, std::span<const std::string> names);

/// `origin`: the header, which browsers send with what changes something; empty: none came.
bool is_same_site(std::string_view origin, std::string_view host);

}  // namespace l4::http
