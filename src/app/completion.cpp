#include "app/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "app/input_lines.h"
#include "inference/fill_mask.h"
#include "inference/model_text.h"

namespace limpid {
namespace {

std::string quoted(const Tokenizer& tokenizer, int32_t id) {
  return one_line(nlohmann::ordered_json(tokenizer.piece(id)));
}

}  // namespace

std::vector<std::string> read_prompts(const CompleteOptions& options, bool lines) {
  if (!options.prompts.empty()) return options.prompts;
  InputLines input(options.file.empty() ? std::vector<std::string>{} : std::vector<std::string>{options.file});
  std::vector<std::string> prompts;
  while (auto line = input.next()) {
    if (lines || prompts.empty())
      prompts.push_back(std::move(*line));
    else
      prompts[0] += '\n' + *line;
  }
  if (prompts.empty() && !lines) prompts.emplace_back();
  return prompts;
}

EngineOptions engine_options(const CompleteOptions& options) {
  return {.max_batch = options.max_batch, .memory = options.memory};
}

std::optional<Engine::Clock::time_point> deadline_of(const CompleteOptions& options) {
  if (options.seconds <= 0) return std::nullopt;
  const std::chrono::duration<double> time(options.seconds);
  return Engine::Clock::now() + std::chrono::duration_cast<Engine::Clock::duration>(time);
}

CompletionOptions options_for(const CompleteOptions& options, const LoadedModel& loaded, int64_t prompt_tokens) {
  return merged_completion(options.request, loaded.generation, prompt_tokens, options.completion);
}

void show(std::string_view text) {
  fmt::print("{}", text);
  check(std::fflush(stdout) == 0, "[complete] the output cannot be written: is the disk full?");
}

std::string shares(const Tokenizer& tokenizer, const std::vector<TokenScore>& tokens) {
  std::string text;
  for (const TokenScore& token : tokens)
    text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", quoted(tokenizer, token.id),
                        100 * std::exp(static_cast<double>(token.log_probability)));
  return text;
}

void tell(const CompleteOptions& options, const Tokenizer& tokenizer, const Completion& completion,
          const std::string& which) {
  if (completion.forgotten > 0)
    fmt::print(stderr,
               "limpid complete: {}longer than the model's context: its first {} tokens were forgotten on the way\n",
               which, completion.forgotten);
  if (completion.finish_reason == FinishReason::context_full)
    fmt::print(stderr, "limpid complete: {}ended because the model's context is full\n", which);
  if (completion.finish_reason == FinishReason::deadline)
    fmt::print(stderr, "limpid complete: {}ended after {} s (--time-limit)\n", which, options.seconds);
  if (options.log_probabilities < 0) return;
  for (const GeneratedToken& token : completion.tokens)
    fmt::print("{:9.4f}  {}{}{}\n", token.log_probability, quoted(tokenizer, token.id), token.top.empty() ? "" : "\t",
               shares(tokenizer, token.top));
}

void fill_masks_of(const CompleteOptions& options, const LoadedModel& loaded) {
  const Tokenizer& tokenizer = loaded.reader();
  const SpecialIds special = tokenizer.special();
  const int64_t top = options.log_probabilities > 0 ? options.log_probabilities : 5;
  const auto mask = static_cast<int32_t>(loaded.config().mask_token.value_or(special.mask));
  const std::vector<int32_t> never = {special.pad, special.unknown, special.begin, special.end, mask};
  for (const std::string& text : read_prompts(options, true)) {
    std::vector<int32_t> ids = masked_ids(loaded, text);
    const auto masks = fill_masks(*loaded.model, {&ids, 1}, mask, top, never).at(0);
    if (masks.empty())
      fmt::print(stderr, "limpid complete: no mask in \"{}\": write {} where a token is to be predicted\n", text,
                 tokenizer.piece(mask));
    for (const FilledMask& filled : masks) ids[filled.position] = filled.top.at(0).id;
    if (options.json) {
      fmt::print("{}\n", one_line(masks_json(tokenizer, text, tokenizer.decode(ids), masks)));
      continue;
    }
    fmt::print("{}\n", tokenizer.decode(ids));
    for (const FilledMask& filled : masks) fmt::print("  {}\n", shares(tokenizer, filled.top));
  }
  show("");
}

}  // namespace limpid
