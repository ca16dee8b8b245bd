// Arbitrary targets and bodies in requests to a live aggregator that watches a failed job: each
// gets one answer, with a fitting status and valid JSON. The input up to the first line feed is the
// target, the rest the body. INCIDENT stands for the id of the job's incident. With L4_FUZZ_STATUS
// set, each answer's status is printed, so that run.py sees what its seeds reach.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>

#include "aggregator/api/api.h"
#include "aggregator/http/target.h"
#include "tests/aggregator/live/live_world.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/temp_folder.h"

namespace {

using namespace std::chrono_literals;
using l4::fuzz::require;

constexpr auto kJob = "crash-rank4";

/// A job that crashed, with its incident; time passes only with the steps of a question.
struct World {
  World() : live(folder.path()) {
    const auto sample = std::filesystem::path(L4_SOURCE_DIR) / "samples/crash-rank4";
    const auto recorded = l4::test::record_batches(sample, kJob);
    require(recorded.has_value(), "the sample can be read");
    live.start();
    for (const auto& batches : *recorded) live.add(batches.at(0).agent, batches);
    require(live.settle(), "the aggregator takes the sample");
    for (int i = 0; i < 400; ++i) live.step();
    handler = l4::api::make_handler(*live.aggregator);
    const auto incidents = live.aggregator->incidents({});
    require(incidents && !incidents->empty(), "there is an incident");
    incident = incidents->front().id;
  }
  l4::test::TempFolder folder;
  l4::test::LiveWorld live;
  l4::http::Handler handler;
  std::string incident;
};

/// The answer to one question; outlives the question.
struct Answers {
  std::mutex mutex;
  int count = 0;
  l4::http::Response last;
};

World& world() {
  static World made;
  return made;
}

std::string with_incident(std::string_view input) {
  constexpr std::string_view kWord = "INCIDENT";
  std::string text(input);
  const std::size_t at = text.find(kWord);
  if (at != std::string::npos) text.replace(at, kWord.size(), world().incident);
  return text;
}

l4::http::Response ask(const l4::http::Request& request) {
  const auto answers = std::make_shared<Answers>();
  world().handler(request, [answers](l4::http::Response response) {
    const std::lock_guard lock(answers->mutex);
    ++answers->count;
    answers->last = std::move(response);
  });
  const auto count = [&] {
    const std::lock_guard lock(answers->mutex);
    return answers->count;
  };
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (count() == 0) {
    require(std::chrono::steady_clock::now() < until, "each question is answered");
    world().live.step();
    std::this_thread::sleep_for(20us);  // the fault book and the store have threads of their own
  }
  require(count() == 1, "once");
  return answers->last;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const l4::fuzz::Input input(data, size);
  const std::string text = with_incident(input.text);
  const std::size_t end = text.find('\n');
  const auto target = l4::http::read_target(std::string_view(text).substr(0, end));
  if (!target) {
    require(!target.error().reason.empty(), "a refusal has a reason");
    return 0;
  }
  constexpr std::array kMethods{"GET", "POST", "DELETE"};
  l4::http::Request request{kMethods[input.steer % kMethods.size()],
                            target->path,
                            target->segments,
                            target->query,
                            end < text.size() ? text.substr(end + 1) : std::string(),
                            "127.0.0.1:1"};
  request.who = "fuzz";
  request.content_type = "application/json";
  const auto response = ask(request);
  if (std::getenv("L4_FUZZ_STATUS") != nullptr)
    std::fprintf(stderr, "status %u %s\n", response.status, request.path.c_str());
  require(response.status >= 200 && response.status < 600, "a status");
  if (response.content_type == "application/json")
    require(nlohmann::json::accept(response.body), "JSON is JSON");
  if (response.status >= 400)
    require(response.body.starts_with("{\"error\": {\"code\": \"") || request.path == "/healthz" ||
                request.path == "/readyz",
            "an error has a code");
  return 0;
}
