#include "common/http/tls.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <ctime>

namespace l4::http {
namespace {

std::unexpected<Error> refused(const std::filesystem::path& file, std::string reason) {
  ERR_clear_error();
  return std::unexpected(Error{file.string(), std::move(reason)});
}

/// The last error of OpenSSL in brackets; empty if there is none.
std::string detail() {
  const char* said = ERR_reason_error_string(ERR_peek_last_error());
  return said == nullptr ? std::string() : fmt::format(" ({})", said);
}

bool is_readable(const std::filesystem::path& file) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> opened(BIO_new_file(file.c_str(), "r"), BIO_free);
  std::error_code ignored;
  return opened != nullptr && !std::filesystem::is_directory(file, ignored);
}

std::string text_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return "a time that cannot be read";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min);
}

TlsContext new_context(const SSL_METHOD* method) {
  TlsContext context(SSL_CTX_new(method), SSL_CTX_free);
  if (context != nullptr) SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  return context;
}

/// OpenSSL would ask for a password on an unattended terminal.
int no_password(char*, int, int, void*) {
  return 0;
}

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> unused{};
  return inet_pton(AF_INET, host.c_str(), unused.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), unused.data()) == 1;
}

}  // namespace

Result<TlsContext> server_tls(const TlsFiles& files, TimeMs now) {
  ERR_clear_error();
  TlsContext context = new_context(TLS_server_method());
  if (!context) return refused(files.certificate, "TLS cannot be used here" + detail());
  SSL_CTX_set_default_passwd_cb(context.get(), no_password);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  for (const std::filesystem::path& file : {files.certificate, files.key})
    if (!is_readable(file)) return refused(file, "cannot be read");
  if (SSL_CTX_use_certificate_chain_file(context.get(), files.certificate.c_str()) != 1)
    return refused(files.certificate, "holds no certificate in PEM form" + detail());
  // A key of another kind than the certificate's is refused here already.
  if (SSL_CTX_use_PrivateKey_file(context.get(), files.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    const bool other = ERR_GET_LIB(ERR_peek_last_error()) == ERR_LIB_X509;
    return refused(
        files.key,
        other ? fmt::format("is not the key of the certificate in {}", files.certificate.string())
              : "holds no private key in PEM form, without a password" + detail());
  }
  if (SSL_CTX_check_private_key(context.get()) != 1)
    return refused(files.key, fmt::format("is not the key of the certificate in {}",
                                          files.certificate.string()));
  const X509* own = SSL_CTX_get0_certificate(context.get());
  std::time_t at = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  const ASN1_TIME *begin = X509_get0_notBefore(own), *end = X509_get0_notAfter(own);
  if (X509_cmp_time(end, &at) < 0)
    return refused(files.certificate, "has expired at " + text_of(end));
  if (X509_cmp_time(begin, &at) > 0)
    return refused(files.certificate, "is not valid before " + text_of(begin));
  return context;
}

Result<TlsContext> client_tls(const std::filesystem::path& ca) {
  ERR_clear_error();
  TlsContext context = new_context(TLS_client_method());
  if (!context) return refused(ca, "TLS cannot be used here" + detail());
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  if (ca.empty()) {
    if (SSL_CTX_set_default_verify_paths(context.get()) != 1)
      return refused("", "the certificates of this system cannot be read" + detail());
    return context;
  }
  if (!is_readable(ca)) return refused(ca, "cannot be read");
  if (SSL_CTX_load_verify_locations(context.get(), ca.c_str(), nullptr) != 1)
    return refused(ca, "holds no certificates in PEM form" + detail());
  return context;
}

ssl_ctx_st* another(const TlsContext& context) {
  SSL_CTX_up_ref(context.get());
  return context.get();
}

bool expect_host(ssl_st* connection, const std::string& host) {
  X509_VERIFY_PARAM* expected = SSL_get0_param(connection);
  if (is_address(host)) return X509_VERIFY_PARAM_set1_ip_asc(expected, host.c_str()) == 1;
  X509_VERIFY_PARAM_set_hostflags(expected, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  // As SSL_set_tlsext_host_name does, without its cast; OpenSSL copies the name.
  std::string name = host;
  return SSL_ctrl(connection, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                  name.data()) == 1 &&
         X509_VERIFY_PARAM_set1_host(expected, host.c_str(), host.size()) == 1;
}

std::string trust_problem(const ssl_st* connection, const std::string& host) {
  const std::string is(kUntrusted);
  switch (const long code = SSL_get_verify_result(connection)) {
    case X509_V_OK:
      return {};
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return is + "has expired, or one that signed it has";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return is + "is not valid yet: is the clock of this machine right?";
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return is + "is for another host than " + host;
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return is + "is signed by itself, and nobody here knows it; name it with --ca or `ca`";
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return is + "is signed by an authority that is not known here; name it with --ca or `ca`";
    default:
      return fmt::format("{}cannot be trusted: {}", is, X509_verify_cert_error_string(code));
  }
}

}  // namespace l4::http
