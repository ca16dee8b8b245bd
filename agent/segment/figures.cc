#include "agent/segment/figures.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "agent/segment/decimal.h"
#include "agent/segment/rule_pack.h"
#include "common/base/ascii.h"
#include "common/base/find_bytes.h"

namespace l4::segment {
namespace {

using Kind = wire::FigureKind;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Longer tails come first. The first row whose tail ends a name gives its kind.
constexpr std::array kForms{
    FigureForm{Kind::loss_scale, "loss scale", "lm loss: 8.9E+00 | loss scale: 65536.0 | grad",
               "loss scale", 65536},
    FigureForm{Kind::loss_scale, "loss scale to",
               "Gradient overflow. Skipping step, reducing loss scale to 4.5e-171", "loss scale",
               4.5e-171},
    FigureForm{Kind::loss_scale, "loss scaler", "step 5 loss_scaler=1024", "loss_scaler", 1024},
    FigureForm{Kind::loss_scale, "grad scale", "iter 7, grad_scale: 32768.0", "grad_scale", 32768},
    FigureForm{Kind::loss, "loss", "{'train_loss': 2.25, 'epoch': 1.0}", "train_loss", 2.25},
    FigureForm{Kind::loss, "loss train total", "Train loss/train/total: 3.5",
               "Train loss/train/total", 3.5},
    FigureForm{Kind::loss, "loss total", "step 7 loss_total=2.5 lr=1e-4", "loss_total", 2.5},
    FigureForm{Kind::loss, "loss avg", "iter 7 | loss_avg: 2.5 | lr: 1e-4", "loss_avg", 2.5},
    FigureForm{Kind::gradient_norm, "norm grad global", "Train l2_norm/grad/global: 1.5",
               "Train l2_norm/grad/global", 1.5},
    FigureForm{Kind::gradient_norm, "grad norm", "| loss scale: 1.0 | grad norm: 0.513 |",
               "grad norm", 0.513},
    FigureForm{Kind::gradient_norm, "gradient norm", "step 3: gradient norm = inf", "gradient norm",
               std::numeric_limits<double>::infinity()},
    FigureForm{Kind::gradient_norm, "g norm", "loss=7.1, gnorm=nan, clip=0", "gnorm", kNaN},
    FigureForm{Kind::gradient_norm, "global norm", "loss_scale: 1.0, global_norm: [3.5],",
               "global_norm", 3.5},
    FigureForm{Kind::rate, "tokens/s", "step 10 tokens/s: 51200.5", "tokens/s", 51200.5},
    FigureForm{Kind::rate, "tokens/sec", "tokens/sec=1200", "tokens/sec", 1200},
    FigureForm{Kind::rate, "tokens per second", "tokens per second: 900", "tokens per second", 900},
    FigureForm{Kind::rate, "tok/s", "loss: 2.5 | tok/s 2048", "tok/s", 2048},
    FigureForm{Kind::rate, "tok/sec", "dt: 4.93ms | tok/sec: 25,975 | mfu: 0.00", "tok/sec", 25975},
    FigureForm{Kind::rate, "samples/s", "samples/s=3.25", "samples/s", 3.25},
    FigureForm{Kind::rate, "samples/sec", "iter time (s): 1.2 samples/sec: 213.3", "samples/sec",
               213.3},
    FigureForm{Kind::rate, "samples per second", "samples per second: 12.5", "samples per second",
               12.5},
    FigureForm{Kind::rate, "samples per sec", "global_step=10, CurrSamplesPerSec=171.67, Mem",
               "CurrSamplesPerSec", 171.67},
    FigureForm{Kind::rate, "tokens per sec", "step 7 tokensPerSec: 900", "tokensPerSec", 900},
    FigureForm{Kind::rate, "examples/sec", "step 20, examples/sec: 1024.5", "examples/sec", 1024.5},
    FigureForm{Kind::rate, "examples per sec", "examples_per_sec=12", "examples_per_sec", 12},
    FigureForm{Kind::rate, "images/sec", "batch 10 images/sec: 310", "images/sec", 310},
    FigureForm{Kind::rate, "steps per second", "{'train_steps_per_second': 2.5}",
               "train_steps_per_second", 2.5},
    FigureForm{Kind::rate, "tps", "loss: 8.1  memory: 10GiB  tps: 3,504", "tps", 3504},
    FigureForm{Kind::rate, "wps", "loss=9.1|ppl=550|wps=12000", "wps", 12000},
    FigureForm{Kind::rate, "tflops", "tflops: 131.5  mfu: 42 %", "tflops", 131.5},
    FigureForm{Kind::rate, "throughput", "\"throughput\": 512.25}", "throughput", 512.25},
    FigureForm{Kind::rate, "throughput per gpu (tflop/s/gpu)",
               "| throughput per GPU (TFLOP/s/GPU): 410.2 | learning rate: 1.5E-04 |",
               "throughput per GPU (TFLOP/s/GPU)", 410.2},
    FigureForm{Kind::rate, "tflops per gpu", "global_step: 20 | TFLOPS_per_GPU: 388.1 |",
               "TFLOPS_per_GPU", 388.1},
    FigureForm{Kind::rate, "tokens per second per gpu",
               "Step 7 | loss:1.9 tokens_per_second_per_gpu:830.5 log", "tokens_per_second_per_gpu",
               830.5},
    FigureForm{Kind::rate, "mfu", "step 12 | loss 3.1 | mfu: 41.2%", "mfu", 41.2},
    FigureForm{Kind::rate, "tgs", "loss=7.01 tgs=4021.5 lr=1e-4", "tgs", 4021.5},
    FigureForm{Kind::rate, "ips", "global step 40, loss: 9.1, ips: 310.5 tokens/s", "ips", 310.5},
    FigureForm{Kind::rate, "throughput per npu", "train_throughput_per_npu: 86.2T",
               "train_throughput_per_npu", 86.2},
};

/// Ends a tail whose name does not say so.
constexpr std::string_view kTo = " to";

/// Words that a name of the whole loss of training may have besides "loss".
constexpr std::array<std::string_view, 13> kWholeLoss{
    "loss", "lm",      "train", "training", "total", "reduced", "avg",
    "mean", "average", "step",  "global",   "batch", "running"};

bool is_joint(char c) {
  return c == '_' || c == '-' || c == ' ';
}

/// The begin of `tail` if it ends at `end` of the text; a blank in it stands for any joint or none.
std::optional<std::size_t> begin_of_tail(std::string_view text, std::size_t end,
                                         std::string_view tail) {
  std::size_t at = end;
  for (std::size_t k = tail.size(); k-- > 0;) {
    if (tail[k] == ' ') {
      if (at > 0 && (is_joint(text[at - 1]) || text[at - 1] == '/')) --at;
      continue;
    }
    if (at == 0 || lower(text[at - 1]) != tail[k]) return std::nullopt;
    --at;
  }
  return at;
}

/// INFO, WARNING: a level, and no part of a name.
bool is_shout(std::string_view word) {
  return word.size() > 3 && std::ranges::all_of(word, is_upper);
}

bool is_in_name(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '-';
}
/// Where such a sign stands before a blank, no word of the same name does.
bool is_parting(char c) {
  return c == '|' || c == ',' || c == ':' || c == ';' || c == ' ';
}

/// Where the name begins whose tail begins at `at`: the word of the tail, and one or two words
/// before it that are letters alone.
std::size_t begin_of_name(std::string_view text, std::size_t at) {
  constexpr int kWordsBefore = 2;
  const auto word_from = [&](std::size_t end, bool paths) {
    while (end > 0 && (is_in_name(text[end - 1]) || (paths && (text[end - 1] == '/')))) --end;
    return end;
  };
  std::size_t begin = word_from(at, true);
  for (int words = 0; words < kWordsBefore && begin > 1 && text[begin - 1] == ' '; ++words) {
    const std::size_t word = word_from(begin - 1, false);
    const std::string_view before = text.substr(word, begin - 1 - word);
    if (before.empty() || !std::ranges::all_of(before, is_letter) || is_shout(before)) break;
    if (word > 0 && text[word - 1] != ' ' && text[word - 1] != '|' && text[word - 1] != ',') break;
    begin = word;
  }
  return begin;
}

/// Where the number of a name that ends at `at` begins; empty if no number can stand there.
std::optional<std::size_t> begin_of_number(std::string_view text, std::size_t at) {
  constexpr std::size_t kBetweenMax = 24;
  constexpr std::string_view kValue = "\"value\"";
  const std::size_t from = at;
  const auto skip = [&](std::string_view signs) {
    while (at < text.size() && signs.find(text[at]) != std::string_view::npos) ++at;
  };
  skip("'\"");
  skip(" ,");
  if (text.substr(std::min(at, text.size())).starts_with(kValue)) at += kValue.size();
  skip(" :=([");
  skip("'\"");
  const bool apart = at > from && at - from <= kBetweenMax && at < text.size();
  return apart ? std::optional(at) : std::nullopt;
}

/// The number at the front of `rest`, if it ends there: no version, date, address or word.
std::optional<double> parse_figure(std::string_view rest) {
  double value = 0;
  const std::size_t size = read_decimal(rest, value);
  if (size == 0) return std::nullopt;
  rest.remove_prefix(size);
  const auto group = [&] {  // ,975
    return rest.size() >= 4 && rest[0] == ',' && is_digit(rest[1]) && is_digit(rest[2]) &&
           is_digit(rest[3]) && (rest.size() == 4 || !is_digit(rest[4]));
  };
  for (; group(); rest.remove_prefix(4))
    value = value * 1000 + (rest[1] - '0') * 100 + (rest[2] - '0') * 10 + (rest[3] - '0');
  if (rest.size() >= 2 && (rest[0] == '.' || rest[0] == '-' || rest[0] == ':') && is_digit(rest[1]))
    return std::nullopt;
  if (rest.empty() || !is_letter(rest[0])) return value;
  // A unit of one letter may follow (86.2T), but not a power of a thousand, which would be lost.
  const bool unit = std::isfinite(value) && (rest.size() == 1 || !is_letter(rest[1]));
  return unit && lower(rest[0]) != 'k' && lower(rest[0]) != 'm' && lower(rest[0]) != 'g'
             ? std::optional(value)
             : std::nullopt;
}

/// True if every word of the name says that it is the whole loss.
bool is_whole_loss(std::string_view name) {
  while (!name.empty()) {
    std::size_t size = 0;
    while (size < name.size() && is_letter(name[size]) &&
           (size == 0 || !is_upper(name[size]) || is_upper(name[size - 1])))
      ++size;
    const std::string_view word = name.substr(0, size);
    if (!word.empty() && !equals_one_of(word, kWholeLoss)) return false;
    name.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return true;
}

/// Index made of the last two signs before `end`, the same for upper and lower case.
constexpr std::size_t last_two(std::string_view text, std::size_t end) {
  return (static_cast<std::size_t>(text[end - 2]) & 31) * 32 +
         (static_cast<std::size_t>(text[end - 1]) & 31);
}
/// The rows whose tails end so, one bit for each: nearly no word of a log ends like a tail.
constexpr auto kRowsByEnd = [] {
  static_assert(kForms.size() <= 64);
  std::array<std::uint64_t, 32 * 32> rows{};
  for (std::size_t row = 0; row < kForms.size(); ++row)
    rows[last_two(kForms[row].tail, kForms[row].tail.size())] |= std::uint64_t{1} << row;
  return rows;
}();

const FigureForm* form_ending_at(std::string_view text, std::size_t end, std::size_t& begin) {
  for (std::uint64_t rows = kRowsByEnd[last_two(text, end)]; rows != 0; rows &= rows - 1) {
    const FigureForm& form = kForms[static_cast<std::size_t>(std::countr_zero(rows))];
    if (const auto at = begin_of_tail(text, end, form.tail)) {
      // The tail begins a word, or stands behind a joint: "gloss" is no loss, "trainLoss" is one.
      const bool joined = *at > 0 && (is_letter(text[*at - 1]) || is_digit(text[*at - 1]));
      if (joined && !(is_upper(text[*at]) && !is_upper(text[*at - 1]))) continue;
      begin = *at;
      return &form;
    }
  }
  return nullptr;
}

/// Signs that may stand behind a name.
bool ends_name(char c) {
  return c == ':' || c == '=' || c == ' ' || c == '"' || c == '\'';
}

}  // namespace

std::span<const FigureForm> figure_forms() {
  return kForms;
}

std::vector<Figure> find_figures(std::string_view message) {
  constexpr std::size_t kSearched = 4096;
  const std::string_view text = message.substr(0, kSearched);
  std::vector<Figure> found;
  for (std::size_t end = 3; end < text.size() && found.size() < kFiguresMax; ++end) {
    if (!ends_name(text[end])) continue;
    std::size_t tail = 0;
    const FigureForm* form = form_ending_at(text, end, tail);
    if (form == nullptr) continue;
    const auto number = begin_of_number(text, end);
    if (!number || !parse_figure(text.substr(*number))) continue;
    // "loss scaler 0 reducing ..." tells which one, not how large it is.
    const bool is_told = form->tail.ends_with(kTo);
    const std::string_view sign = text.substr(end, *number - end);
    if (form->kind == Kind::loss_scale && !is_told && sign.find_first_of(":=") == sign.npos)
      continue;
    const std::size_t begin = is_told ? tail : begin_of_name(text, tail);
    if (end - begin > kFigureNameMax) continue;
    Figure figure;
    figure.name = text.substr(begin, end - begin - (is_told ? kTo.size() : 0));
    figure.tail = tail - begin;
    figure.within = is_told;
    figure.kind =
        form->kind == Kind::loss && !is_whole_loss(figure.name) ? Kind::loss_term : form->kind;
    figure.before = text.substr(begin, *number - begin);
    figure.before.erase(figure.before.find_last_not_of(' ') + 1);
    const auto same = [&](const Figure& other) { return other.name == figure.name; };
    if (std::ranges::none_of(found, same)) found.push_back(std::move(figure));
  }
  return found;
}

std::optional<double> read_figure(std::string_view message, const Figure& figure,
                                  const Outline& outline) {
  const auto parse_at = [&](std::size_t at) {
    std::string_view rest = message.substr(at + figure.before.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    return parse_figure(rest);
  };
  // Of another name, if it is only the end of one. Mostly the signs before it show that it is not.
  const auto is_whole = [&](std::size_t at) {
    if (figure.within || at == 0 || message[at - 1] == '|' || message[at - 1] == ',') return true;
    if (message[at - 1] == ' ' && (at == 1 || is_parting(message[at - 2]))) return true;
    return begin_of_name(message, at + figure.tail) == at;
  };
  if (figure.last.known)
    if (const auto at = find_near(message, figure.before, figure.last.at)) {
      const bool same = outline.collapsed != 0 && outline.collapsed == figure.last.outline;
      if (same || is_whole(*at))
        if (const auto value = parse_at(*at)) {
          figure.last = {outline.collapsed, *at, true};
          return value;
        }
    }
  for (std::size_t at = find_phrase(message, figure.before); at != std::string_view::npos;
       at = find_phrase(message, figure.before, at + 1)) {
    if (!is_whole(at)) continue;
    const auto value = parse_at(at);
    if (!value) continue;
    figure.last = {outline.collapsed, at, true};
    return value;
  }
  return std::nullopt;
}

}  // namespace l4::segment
