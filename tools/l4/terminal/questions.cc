#include "tools/l4/terminal/questions.h"

#include <unistd.h>

#include <iostream>

#include "aggregator/serve/utf8.h"

namespace l4::terminal {

bool can_ask() {
  return ::isatty(STDIN_FILENO) != 0 && ::isatty(STDERR_FILENO) != 0;
}

Result<std::string> ask(const std::string& question, const std::string& fallback,
                        const std::function<Result<void>(const std::string&)>& check) {
  for (;;) {
    std::cerr << question << (fallback.empty() ? ": " : " [" + serve::harmless(fallback) + "]: ")
              << std::flush;
    std::string answer;
    if (!std::getline(std::cin, answer)) {
      std::cerr << '\n';
      return std::unexpected(
          Error{"", "the input ended before all was answered; nothing is written"});
    }
    const std::size_t begin = std::min(answer.find_first_not_of(" \t\r"), answer.size());
    answer = answer.substr(begin, answer.find_last_not_of(" \t\r") + 1 - begin);
    if (answer.empty()) answer = fallback;
    if (const auto fine = check(answer); fine)
      return answer;
    else
      std::cerr << "  " << serve::harmless(fine.error().text()) << '\n';
  }
}

}  // namespace l4::terminal
