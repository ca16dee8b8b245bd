// What is said of a name that nobody has: the sentence, with what may have been meant.
//
// Flow: an aggregator answered that there is no such thing -> here -> it is asked for the names
// that it does know -> a Failure that ends with kWrongUse. Where it does not answer this time, the
// sentence goes without. one_of() says the same of words of closed lists. No state.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/l4/asking.h"

namespace l4::cli {

Failure no_such_job(const Aggregator& asked, const std::string& name);
Failure no_such_incident(const Aggregator& asked, const std::string& name);
/// Of the pool.
Failure no_such_run(const Aggregator& asked, const std::string& name);
Failure no_such_confirmed_fault(const Aggregator& asked, const std::string& name);

/// "; did you mean a, b or c?"; empty if none of `words` is near.
std::string did_you_mean(const std::string& typo, const std::vector<std::string>& words);

/// For CLI::Option::check: what is wrong with a word that is none of these; empty if it is one.
std::function<std::string(const std::string&)> one_of(std::vector<std::string> words);

}  // namespace l4::cli
