// Requests to a running aggregator: its address, the token, and its answer.
//
// Flow: commands that ask -> find_aggregator, fetch or ask -> common/http. Blocking, on the thread
// of the caller. Answers are as they were sent: not fit for a terminal yet. No state.
#pragma once

#include <cstddef>
#include <expected>
#include <filesystem>
#include <string>

#include "common/base/error.h"
#include "common/base/time.h"
#include "common/http/client.h"
#include "tools/l4/ask/ask_options.h"
#include "tools/l4/terminal/exit.h"

namespace l4::ask {

/// The reason why the requested answer did not come.
struct Failure {
  Error error;
  int exit = terminal::kNothingRead;  ///< the status to end with
  unsigned status = 0;                ///< HTTP status; 0: no answer
  std::string code = {};              ///< code of the aggregator's error; empty: none

  /// Whether an aggregator answered that it does not know the requested thing.
  bool is_not_found() const { return status == 404 && !code.empty(); }
};
template <class T>
using Answer = std::expected<T, Failure>;

std::unexpected<Failure> failed(std::string where, std::string reason,
                                int exit = terminal::kNothingRead);

/// The aggregator that is to be asked.
struct Aggregator {
  std::string address;  ///< without a slash at its end
  std::string token;    ///< empty: none
  /// PEM file of the authorities that are believed over https; empty: those of the system.
  std::filesystem::path ca = {};
};

/// Address: --address, else L4_ADDRESS, else client.toml (client_file.h). Token: the first word of
/// --token-file, else L4_TOKEN, else the token file of client.toml. Authorities: --ca, else L4_CA,
/// else `ca` of client.toml. The token and `ca` of client.toml are used for its own address alone.
Answer<Aggregator> find_aggregator(const AskOptions& flags);
/// Whether the files that a client.toml names can be used.
Answer<void> check_files(const AskOptions& file);

/// The options of a request: its token, its authorities, its timeout.
http::ClientOptions how_to_ask(const Aggregator& asked, Millis timeout);

inline constexpr std::size_t kAllRows = 0;
/// Rows that are asked for at once where not all are wanted; the aggregator gives no more.
inline constexpr std::size_t kPageRows = 1'000;

enum class Method { get, post, erase };

/// Any status is an answer; a body is JSON.
Answer<http::ClientResponse> send(const Aggregator& asked, Method method, const std::string& path,
                                  const std::string& body, Millis timeout);

/// Gets the body of an answer 200; any other result is a failure with its reason.
Answer<std::string> fetch(const Aggregator& asked, const std::string& path, Millis timeout);

/// The list `key` with the pages that follow the first, as one answer; at most `most` rows.
Answer<std::string> fetch_list(const Aggregator& asked, const std::string& path,
                               const std::string& key, Millis timeout, std::size_t most = kAllRows);

/// The failure for an answer that is not 200: its own sentence, or what is odd about it.
Failure failure_of(const Aggregator& asked, const http::ClientResponse& response);

std::unexpected<Failure> misread(const Aggregator& asked, const Error& error);

}  // namespace l4::ask
