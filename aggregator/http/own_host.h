// Whether a request is meant for this server and comes from its own pages: protects a server
// without tokens from pages of other sites in a browser on the same host.
//
// A page can set the Host of a request only to a name that it owns and that resolves to this host
// (DNS rebinding). So only known names are accepted; an address cannot be rebound. Flow: unguarded
// -> here. Private to this room. Thread-safe, no state.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace l4::http {

/// True if the header `host`, with a port or without, is an IP address, localhost, or in `names`.
bool is_own_host(std::string_view host, std::span<const std::string> names);

/// True for localhost and for loopback addresses; `host` has neither brackets nor a port.
bool is_loopback(std::string_view host);

/// `origin`: the header that browsers send with requests that change something; empty if it was not
/// sent.
bool is_same_site(std::string_view origin, std::string_view host);

}  // namespace l4::http
