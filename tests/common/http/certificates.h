// Certificates for tests, made anew for each: an authority and what it signs, as PEM files.
#pragma once

#include <filesystem>
#include <string>

#include "common/http/tls.h"

namespace l4::test {

class Authority {
 public:
  /// Writes files into the folder, which outlives this.
  explicit Authority(std::filesystem::path folder, const std::string& name = "ca");
  ~Authority();
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;

  const std::filesystem::path& pem() const { return pem_; }
  /// `host`: as in subjectAltName, such as IP:127.0.0.1; valid from and to: seconds from now.
  http::TlsFiles sign(const std::string& name, const std::string& host = "IP:127.0.0.1",
                      long begin_s = -60, long end_s = 3600);

 private:
  struct Parts;
  std::filesystem::path folder_, pem_;
  Parts* parts_;
};

}  // namespace l4::test
