#include "app/training_display.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "app/terminal.h"

namespace limpid {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr auto kPlainLine = std::chrono::seconds(30);

std::string side_line(const char* name, const CorpusReport& report) {
  std::string text = fmt::format("  {:11} {} lines", name, report.lines);
  if (report.tokens[1] > 0)
    text += fmt::format(", {} + {} tokens", report.tokens[0], report.tokens[1]);
  else
    text += fmt::format(", {} tokens", report.tokens[0]);
  if (report.longest > 0) text += fmt::format(", longest {}", report.longest);
  if (report.duplicates > 0) text += fmt::format(", {} repeated", report.duplicates);
  if (report.unknown > 0) text += fmt::format(", {} unknown tokens", report.unknown);
  for (const auto& [reason, count] : report.dropped)
    text +=
        fmt::format("\n              {} dropped: {} (first: line {})", count, reason, report.first_dropped.at(reason));
  if (report.cut > 0)
    text += fmt::format("\n              {} cut to data.max_length: their ends are not read", report.cut);
  return text + '\n';
}

// How long the examples are, one character for each eight tokens.
std::string lengths_line(const CorpusReport& report) {
  constexpr const char* kLevels[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  int64_t most = 0;
  for (int64_t count : report.lengths) most = std::max(most, count);
  if (most == 0) return "";
  std::string picture;
  for (int64_t count : report.lengths) picture += kLevels[count == 0 ? 0 : 1 + 7 * count / most];
  return fmt::format("  {:11} {} tokens 1 … 128 and more\n", "lengths", picture);
}

std::string what_only_limpid_knows(const Config& config) {
  std::vector<std::string> keys;
  if (config.json.contains("limpid") && config.json["limpid"].is_object())
    for (const auto& [key, value] : config.json["limpid"].items())
      keys.push_back(fmt::format("{} = {}", key, value.dump()));
  if (!keys.empty()) return fmt::format("no other program knows limpid.{}", fmt::join(keys, ", limpid."));
  return config.notes.empty() ? config.model_type + " is a family of its own" : config.notes.front();
}

}  // namespace

std::string describe(const ValidationReport& report) {
  std::string text = fmt::format("loss {:.4f} (perplexity {:.2f})", report.loss, std::exp(report.loss));
  if (report.bleu) text += fmt::format(", BLEU {:.2f}", *report.bleu);
  if (report.chrf) text += fmt::format(", chrF {:.2f}", *report.chrf);
  if (report.exact) text += fmt::format(", exact {:.1f} %", *report.exact);
  return text;
}

nlohmann::ordered_json to_json(const TrainingResult& result, const std::string& folder) {
  nlohmann::ordered_json json = {
      {"folder", folder},          {"ended", result.why},           {"steps", result.steps},
      {"seconds", result.seconds}, {"best_step", result.best_step}, {"loss", result.final.loss}};
  if (result.final.bleu) json["bleu"] = *result.final.bleu;
  if (result.final.chrf) json["chrf"] = *result.final.chrf;
  if (result.final.exact) json["exact"] = *result.final.exact;
  return json;
}

TrainingDisplay::TrainingDisplay(Detail detail)
    : silent_(detail == Detail::nothing), quiet_(detail != Detail::normal), terminal_(redraws(STDERR_FILENO)) {}

TrainingDisplay::~TrainingDisplay() { clear(); }

void TrainingDisplay::clear() {
  if (on_screen_) fmt::print(stderr, "\r\033[K");
  on_screen_ = false;
}

bool TrainingDisplay::draws_now() {
  const auto now = std::chrono::steady_clock::now();
  if (quiet_ || now - drawn_ < (terminal_ ? std::chrono::steady_clock::duration(kRedraw) : kPlainLine)) return false;
  drawn_ = now;
  return true;
}

void TrainingDisplay::preparing(const std::string& what, double done) {
  if (quiet_) return;
  if (terminal_) {
    if (!draws_now() && what == preparing_) return;
    fmt::print(stderr, "\r\033[K{}", progress_line(done, {what}, {0}, terminal_width(STDERR_FILENO)));
    std::fflush(stderr);
    on_screen_ = true;
  } else if (what != preparing_) {
    fmt::print(stderr, "{}\n", what);
  }
  preparing_ = what;
}

void TrainingDisplay::starting(const Dataset& dataset, const Config& config, int64_t parameters, int64_t resumed_step) {
  clear();
  if (quiet_) return;
  fmt::print(stderr, "{}{}{}", side_line("training", dataset.train_report), lengths_line(dataset.train_report),
             side_line("validation", dataset.valid_report));
  if (dataset.overlap > 0)
    fmt::print(stderr, "  warning     {} validation examples stand in the training text too (first: line {})\n",
               dataset.overlap, dataset.overlap_line);
  fmt::print(stderr, "  vocabulary  {} tokens\n  model       {}, {} parameters\n", dataset.tokenizers.source->size(),
             config.model_type, parameters);
  if (config.only_limpid)
    fmt::print(stderr, "              only Limpid opens it: {}\n", what_only_limpid_knows(config));
  if (resumed_step > 0) fmt::print(stderr, "  going on    from step {}\n", resumed_step);
}

void TrainingDisplay::step(const StepReport& report) {
  if (report.step != report.steps && !draws_now()) return;
  if (quiet_) return;
  const double share = report.steps > 0          ? static_cast<double>(report.step) / static_cast<double>(report.steps)
                       : report.seconds_left > 0 ? report.seconds / (report.seconds + report.seconds_left)
                                                 : 0;
  const std::vector<std::string> figures = {
      fmt::format("step {}{}", report.step, report.steps > 0 ? fmt::format("/{}", report.steps) : ""),
      fmt::format("epoch {}", report.epoch + 1), fmt::format("loss {:.4f}", report.loss),
      fmt::format("{:.0f} tokens/s", report.tokens_per_second),
      report.seconds_left > 0 ? clock_text(report.seconds_left) + " left" : ""};
  if (terminal_) {
    fmt::print(stderr, "\r\033[K{}", progress_line(share, figures, {2, 4, 0, 3, 1}, terminal_width(STDERR_FILENO)));
    std::fflush(stderr);
    on_screen_ = true;
  } else {
    const bool last = figures.back().empty();  // no time is left
    fmt::print(stderr, "{}\n", fmt::join(figures.begin(), figures.end() - (last ? 1 : 0), "  "));
  }
}

void TrainingDisplay::validation(const ValidationReport& report) {
  clear();
  if (quiet_) return;
  fmt::print(stderr, "step {}, epoch {}: {}{}\n", report.step, report.epoch + 1, describe(report),
             report.best ? "  best so far" : "");
  for (const ShownTranslation& shown : report.shown) {
    fmt::print(stderr, "    {}\n", shown.source);
    if (shown.written == shown.reference)
      fmt::print(stderr, "    = {}\n", shown.written);
    else
      fmt::print(stderr, "    > {}\n      {}\n", shown.written, shown.reference);
  }
}

void TrainingDisplay::note(const std::string& text) {
  if (silent_) return;
  clear();
  fmt::print(stderr, "{}\n", text);
}

}  // namespace limpid
