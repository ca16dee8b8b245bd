#include "tests/common/http/certificates.h"

#include <doctest/doctest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>

namespace l4::test {
namespace {

EVP_PKEY* new_key() {
  EVP_PKEY* key = EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256");
  REQUIRE(key != nullptr);
  return key;
}

/// Signed by `issuer` with `signer`, or by itself where there is none.
X509* new_certificate(const std::string& name, EVP_PKEY* key, X509* issuer, EVP_PKEY* signer,
                      const std::string& host, long begin_s, long end_s) {
  X509* made = X509_new();
  X509_set_version(made, 2);
  static long serial = 0;
  ASN1_INTEGER_set(X509_get_serialNumber(made), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(made), begin_s);
  X509_gmtime_adj(X509_getm_notAfter(made), end_s);
  X509_set_pubkey(made, key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(made, X509_get_subject_name(issuer == nullptr ? made : issuer));
  X509V3_CTX context{};
  X509V3_set_ctx(&context, issuer == nullptr ? made : issuer, made, nullptr, nullptr, 0);
  const bool is_authority = host.empty();
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(
      nullptr, &context, is_authority ? NID_basic_constraints : NID_subject_alt_name,
      is_authority ? "critical,CA:TRUE" : host.c_str());
  REQUIRE(extension != nullptr);
  X509_add_ext(made, extension, -1);
  X509_EXTENSION_free(extension);
  REQUIRE(X509_sign(made, signer, EVP_sha256()) > 0);
  return made;
}

void write_certificate(const std::filesystem::path& file, X509* certificate) {
  std::FILE* out = std::fopen(file.c_str(), "w");
  REQUIRE(out != nullptr);
  CHECK(PEM_write_X509(out, certificate) == 1);
  std::fclose(out);
}

}  // namespace

struct Authority::Parts {
  EVP_PKEY* key;
  X509* certificate;
};

Authority::Authority(std::filesystem::path folder, const std::string& name)
    : folder_(std::move(folder)), pem_(folder_ / (name + ".pem")) {
  EVP_PKEY* key = new_key();
  parts_ = new Parts{key, new_certificate(name, key, nullptr, key, "", -3600, 86'400)};
  write_certificate(pem_, parts_->certificate);
}

Authority::~Authority() {
  X509_free(parts_->certificate);
  EVP_PKEY_free(parts_->key);
  delete parts_;
}

http::TlsFiles Authority::sign(const std::string& name, const std::string& host, long begin_s,
                               long end_s) {
  const http::TlsFiles files{folder_ / (name + ".pem"), folder_ / (name + ".key")};
  EVP_PKEY* key = new_key();
  X509* made = new_certificate(name, key, parts_->certificate, parts_->key, host, begin_s, end_s);
  write_certificate(files.certificate, made);
  std::FILE* out = std::fopen(files.key.c_str(), "w");
  REQUIRE(out != nullptr);
  CHECK(PEM_write_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  std::fclose(out);
  X509_free(made);
  EVP_PKEY_free(key);
  return files;
}

}  // namespace l4::test
