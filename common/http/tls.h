// TLS on both ends: the certificate of a server and those that a client trusts.
// Place in the flow: settings -> server_tls -> connections of the aggregator's server;
// ClientOptions -> client_tls -> client.cc. The reasons of failures for people are made here. TLS
// 1.2 and newer. A context is immutable and may be shared by threads; making one reads files.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/error.h"
#include "common/base/time.h"

struct ssl_ctx_st;
struct ssl_st;

namespace l4::http {

/// OpenSSL's SSL_CTX.
using TlsContext = std::shared_ptr<ssl_ctx_st>;

/// PEM files: the certificate, then those that signed it; its private key, without a password.
struct TlsFiles {
  std::filesystem::path certificate, key;
};

/// Error: `where` is the file at fault: unreadable, without a certificate or key, unfit for the
/// other file, or invalid at `now`.
Result<TlsContext> server_tls(const TlsFiles& files, TimeMs now);

/// Trusts the authorities of this PEM file; empty: those of the system. Error: names the file.
Result<TlsContext> client_tls(const std::filesystem::path& ca);

/// A further reference to the context, for an owner that releases it.
ssl_ctx_st* another(const TlsContext& context);

/// The server must prove that it is `host`: a name, which is sent to it, or an address.
bool expect_host(ssl_st* connection, const std::string& host);

/// One sentence, beginning with kUntrusted, if the server's certificate was refused; else empty.
std::string trust_problem(const ssl_st* connection, const std::string& host);
inline constexpr std::string_view kUntrusted = "its certificate ";

}  // namespace l4::http
