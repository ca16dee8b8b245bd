#include "aggregator/alert/webhook.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <span>

#include "common/base/hex.h"

namespace l4::alert {
namespace {

constexpr std::array<std::string_view, 4> kWebhookKeys{"url", "ca", "secret", "secret_file"};

void read_webhook(SinkSettings& from, SinkOptions& sink) {
  read_address(from, sink);
  ConfigTable& table = from.table;
  if (table.has("secret") && table.has("secret_file"))
    table.refuse("secret_file", "there is a secret already");
  sink.secret = table.text_or("secret", "");
  if (table.has("secret") && sink.secret.empty()) table.refuse("secret", "must not be empty");
  if (table.has("secret_file")) sink.secret = read_secret(from, "secret_file");
}

void sign(const SinkOptions& sink, const std::vector<std::string>&, Request& request) {
  if (sink.secret.empty()) return;
  request.headers.emplace_back("X-L4-Signature", "sha256=" + signature(sink.secret, request.body));
}

}  // namespace

constinit const SinkKind kWebhook{
    .name = "webhook",
    .keys = kWebhookKeys,
    .read = read_webhook,
    .body = to_json,
    .complete = sign,
};

std::string signature(std::string_view secret, std::string_view body) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(body.data()), body.size(), digest.data(), &size);
  return hex_of(std::span(digest).first(size));
}

}  // namespace l4::alert
