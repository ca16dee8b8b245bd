#include "aggregator/handout/one_file.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "aggregator/page/assets.h"
#include "aggregator/serve/utf8.h"
#include "common/base/check.h"

namespace l4::handout {
namespace {

constexpr char32_t kFirstBeyondAscii = 0x80, kFirstOfPairs = 0x10000;

/// As JSON escapes it: a pair of surrogates beyond the first plane.
void append_escape(std::string& out, char32_t value) {
  const auto unit = [&](char32_t one) { out += fmt::format("\\u{:04x}", std::uint32_t{one}); };
  if (value < kFirstOfPairs) return unit(value);
  unit(0xD800 + ((value - kFirstOfPairs) >> 10));
  unit(0xDC00 + ((value - kFirstOfPairs) & 0x3FF));
}

/// The embedded asset of this type, as it is.
std::string_view asset_of(std::string_view type) {
  const auto found = std::ranges::find_if(
      page::assets(), [&](const page::Asset& asset) { return asset.type.starts_with(type); });
  L4_CHECK(found != page::assets().end(), "the program holds no {}", type);
  return found->plain;
}

/// The digest by which a policy of content allows this text of a script or style element.
std::string source_of(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  L4_CHECK(EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr) == 1,
           "SHA-256 is missing in OpenSSL");
  std::array<unsigned char, 2 * EVP_MAX_MD_SIZE> base64{};
  const int length = EVP_EncodeBlock(base64.data(), digest.data(), static_cast<int>(size));
  return fmt::format("'sha256-{}'", std::string_view(reinterpret_cast<const char*>(base64.data()),
                                                     static_cast<std::size_t>(length)));
}

std::string policy_of(std::string_view script, std::string_view style) {
  return fmt::format(
      "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'; "
      "require-trusted-types-for 'script'; trusted-types 'none'",
      source_of(script), source_of(style));
}

std::string data_of(const Contents& contents) {
  return fmt::format(R"({{"report": {}, "scores": [{}], "nodes": {}, "terms": [{}], "near": {}}})",
                     contents.report, fmt::join(contents.scores, ", "),
                     contents.nodes.empty() ? R"({"nodes": []})" : contents.nodes,
                     fmt::join(contents.terms, ", "),
                     contents.near.empty() ? R"({"faults": []})" : contents.near);
}

}  // namespace

std::string json_in_html(std::string_view json) {
  std::string out;
  out.reserve(json.size() + json.size() / 16);
  while (!json.empty()) {
    const serve::CodePoint next = serve::first_code_point(json);
    const bool acts = next.value == U'<' || next.value == U'>' || next.value == U'&' ||
                      (next.value >= kFirstBeyondAscii && serve::is_control(next.value));
    if (acts)
      append_escape(out, next.value);
    else
      out.append(json.substr(0, next.bytes));
    json.remove_prefix(next.bytes);
  }
  return out;
}

std::string text_in_html(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 16);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    for (const char c : serve::harmless(text.substr(0, end))) {
      switch (c) {
        case '<':
          out += "&lt;";
          break;
        case '>':
          out += "&gt;";
          break;
        case '&':
          out += "&amp;";
          break;
        case '"':
          out += "&quot;";
          break;
        default:
          out += c;
      }
    }
    if (end == std::string_view::npos) break;
    out += '\n';
    text.remove_prefix(end + 1);
  }
  return out;
}

std::string one_file(const Contents& contents) {
  const std::string_view script = asset_of("text/javascript");
  const std::string_view style = asset_of("text/css");
  return fmt::format(R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{}</title>
<style>{}</style>
</head>
<body>
<div id="app"><pre class="text">
{}</pre></div>
<script type="application/json" id="l4-handed">{}</script>
<script>{}</script>
</body>
</html>
)",
                     policy_of(script, style), text_in_html(contents.title), style,
                     text_in_html(contents.text), json_in_html(data_of(contents)), script);
}

}  // namespace l4::handout
