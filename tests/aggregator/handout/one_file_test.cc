#include "aggregator/handout/one_file.h"

#include <doctest/doctest.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/page/assets.h"
#include "aggregator/serve/json_value.h"

namespace l4::handout {
namespace {

constexpr auto kRightToLeft = "\u202E";

/// What stands between the first `begin` and the next `end`.
std::string_view between(std::string_view text, std::string_view begin, std::string_view end) {
  const std::size_t at = text.find(begin);
  REQUIRE(at != std::string_view::npos);
  const std::size_t from = at + begin.size();
  const std::size_t to = text.find(end, from);
  REQUIRE(to != std::string_view::npos);
  return text.substr(from, to - from);
}

std::size_t count_of(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos;
       at = text.find(what, at + what.size()))
    ++count;
  return count;
}

/// In base64, written here a second time: the policy has to agree with what a browser computes.
std::string digest_of(std::string_view text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  constexpr std::string_view kSigns =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < digest.size(); i += 3) {
    const auto byte = [&](std::size_t at) { return at < digest.size() ? digest[at] : 0U; };
    const unsigned three = byte(i) << 16U | byte(i + 1) << 8U | byte(i + 2);
    for (std::size_t part = 0; part < 4; ++part)
      out += i + part <= digest.size() ? kSigns[three >> (18 - 6 * part) & 63U] : '=';
  }
  return out;
}

Contents contents() {
  Contents all;
  all.title = "job-7";
  all.text = "CRASHED · job-7\nit says why\n";
  all.report = R"({"job": {"id": "job-7"}})";
  return all;
}

TEST_CASE("one file: its policy allows its own script and style by their digests, and no request") {
  const std::string file = one_file(contents());
  const auto policy = between(file, "http-equiv=\"Content-Security-Policy\" content=\"", "\"");
  const auto script = between(file, "<script>", "</script>");
  const auto style = between(file, "<style>", "</style>");
  CHECK(script.size() > 10'000);
  CHECK(style.size() > 1'000);
  CHECK(policy.find("script-src 'sha256-" + digest_of(script) + "';") != std::string_view::npos);
  CHECK(policy.find("style-src 'sha256-" + digest_of(style) + "';") != std::string_view::npos);
  CHECK(policy.starts_with("default-src 'none'; "));
  CHECK(policy.find("unsafe") == std::string_view::npos);
  CHECK(policy.find("connect-src") == std::string_view::npos);
  CHECK(file.find("Content-Security-Policy") < file.find("<style>"));
  CHECK(file.find("<link") == std::string::npos);
  CHECK(file.find(" src=") > file.find("<script>"));
}

TEST_CASE("one file: it shows what the page shows") {
  const std::string file = one_file(contents());
  std::size_t scripts = 0;
  for (const page::Asset& asset : page::assets()) {
    const bool script = asset.name.ends_with(".js");
    if (!script && !asset.name.ends_with(".css")) continue;
    // The views that are loaded later are those of a site: no file has them.
    const bool later = script && scripts++ > 0;
    CHECK((file.find(asset.plain) != std::string::npos) == !later);
  }
  CHECK(scripts == 2);
}

TEST_CASE("one file: the text is read where no script runs") {
  const std::string file = one_file(contents());
  CHECK(between(file, "<div id=\"app\"><pre class=\"text\">\n", "</pre></div>") == contents().text);
  CHECK(between(file, "<title>", "</title>") == "job-7");
}

TEST_CASE("one file: its data are those that were given") {
  Contents all = contents();
  all.scores = {R"({"what": "nodes"})", R"({"what": "ranks"})"};
  all.nodes = R"({"nodes": [{"node": "n1"}]})";
  all.terms = {R"({"what": "nodes", "node": "n1"})"};
  all.near = R"({"faults": []})";
  const std::string file = one_file(all);
  const auto data = serve::parse_json(
      between(file, "<script type=\"application/json\" id=\"l4-handed\">", "</script>"));
  REQUIRE(data);
  CHECK(serve::dump_json(*data) ==
        serve::dump_json(*serve::parse_json("{\"report\": " + all.report + ", \"scores\": [" +
                                            all.scores[0] + "," + all.scores[1] +
                                            "], \"nodes\": " + all.nodes + ", \"terms\": [" +
                                            all.terms[0] + "], \"near\": " + all.near + "}")));
}

TEST_CASE("one file: hostile text cannot leave its place") {
  const std::string hostile = std::string("</script><script>evil()</script><!-- </pre></title>") +
                              "<img src=x onerror=evil()>" + kRightToLeft + "gol.exe \x1b[2J &amp;";
  Contents all = contents();
  const std::string harmless = one_file(all);
  all.title = all.text = hostile;
  serve::JsonValue text(hostile);
  all.report = R"({"job": )" + serve::dump_json(text) + "}";
  const std::string file = one_file(all);
  for (const auto* tag : {"<script", "</script", "<img", "<!--", "</pre", "</title"}) {
    CAPTURE(tag);
    CHECK(count_of(file, tag) == count_of(harmless, tag));
  }
  CHECK(file.find(kRightToLeft) == std::string::npos);
  CHECK(file.find('\x1b') == std::string::npos);
  const auto data = serve::parse_json(between(file, "id=\"l4-handed\">", "</script>"));
  REQUIRE(data);
  CHECK(serve::dump_json(*data).find(serve::dump_json(text)) != std::string::npos);
}

TEST_CASE("json in html: the same value, without signs that act") {
  struct Row {
    const char* json;
    const char* written;
  };
  for (const Row& row :
       std::vector<Row>{{R"({"a": "</script>"})", R"({"a": "\u003c/script\u003e"})"},
                        {R"("a & b")", R"("a \u0026 b")"},
                        {"\"\u202Eabc\u2028\"", R"("\u202eabc\u2028")"},
                        {"\"\U000E0041\"", R"("\udb40\udc41")"},
                        {R"(["plain", 1.5, "ä漢"])", R"(["plain", 1.5, "ä漢"])"},
                        {"", ""}}) {
    CHECK(json_in_html(row.json) == row.written);
  }
}

TEST_CASE("text in html: lines stay, signs that act are shown") {
  CHECK(text_in_html("a <b> & \"c\"\nd\n") == "a &lt;b&gt; &amp; &quot;c&quot;\nd\n");
  CHECK(text_in_html("\x1b[2J") == "\u241B[2J");
  CHECK(text_in_html("\xff") == "\uFFFD");
  CHECK(text_in_html("").empty());
}

}  // namespace
}  // namespace l4::handout
