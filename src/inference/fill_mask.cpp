#include "inference/fill_mask.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "inference/decoder_state.h"
#include "inference/model_text.h"
#include "inference/sampling.h"

namespace limpid {
namespace {

constexpr int64_t kTokensAtOnce = 4096, kScoresAtOnce = int64_t{1} << 26;  // bound memory

// Calls use(text, token's place, its row of scores) for every token that is asked for.
using Asked = std::function<bool(size_t text, size_t place)>;
using Use = std::function<void(size_t text, size_t place, std::span<const real> logits)>;

void each_score(const Model& model, std::span<const std::vector<int32_t>> texts, const Asked& asked, const Use& use) {
  for (size_t i = 0; i < texts.size(); ++i) check_text(model.config(), texts[i], i + 1);
  for (size_t begin = 0; begin < texts.size();) {
    std::vector<std::vector<int32_t>> part;
    std::vector<int32_t> chosen;
    std::vector<std::pair<size_t, size_t>> places;
    int64_t tokens = 0;
    for (; begin < texts.size() && (part.empty() || tokens < kTokensAtOnce); ++begin) {
      part.push_back(texts[begin]);
      for (size_t place = 0; place < texts[begin].size(); ++place)
        if (asked(begin, place)) {
          chosen.push_back(static_cast<int32_t>(tokens + static_cast<int64_t>(place)));
          places.emplace_back(begin, place);
        }
      tokens += static_cast<int64_t>(texts[begin].size());
    }
    Batch batch;
    batch.input = Tokens::of(part);
    const auto at_once = static_cast<size_t>(std::max<int64_t>(1, kScoresAtOnce / model.config().vocab));
    for (size_t first = 0; first < places.size(); first += at_once) {  // almost always once
      const size_t count = std::min(at_once, places.size() - first);
      Run run({.arena = Arena()});
      const auto from = chosen.begin() + static_cast<ptrdiff_t>(first);
      const Tensor logits = model.logits(run, batch, TokenChoice::of({from, from + static_cast<ptrdiff_t>(count)}));
      const ConstMatrix rows = logits.values();
      for (size_t i = 0; i < count; ++i)
        use(places[first + i].first, places[first + i].second,
            {rows.row(static_cast<int64_t>(i)), static_cast<size_t>(rows.cols)});
    }
  }
}

}  // namespace

std::vector<std::vector<FilledMask>> fill_masks(const Model& model, std::span<const std::vector<int32_t>> texts,
                                                int32_t mask, int64_t top, const std::vector<int32_t>& never) {
  const Config& config = model.config();
  check(config.guesses_words(), "[masks] a model of type \"{}\"{} fills no masks: take an encoder that was trained to",
        config.model_type, config.labels.empty() ? "" : " with labels");
  std::vector<std::vector<FilledMask>> results(texts.size());
  const auto asked = [&](size_t text, size_t place) { return texts[text][place] == mask; };
  each_score(model, texts, asked, [&](size_t text, size_t place, std::span<const real> logits) {
    auto best = likeliest(logits, top + static_cast<int64_t>(never.size()), log_sum_of_exp(logits));
    std::erase_if(
        best, [&](const TokenScore& token) { return std::find(never.begin(), never.end(), token.id) != never.end(); });
    best.resize(std::min(best.size(), static_cast<size_t>(top)));
    results[text].push_back({static_cast<int64_t>(place), std::move(best)});
  });
  return results;
}

LabelNumbers label_numbers(const Config& config) {
  const auto type = config.json.value("problem_type", nlohmann::ordered_json());
  if (type == "multi_label_classification") return LabelNumbers::each;
  return type == "regression" || config.labels.size() == 1 ? LabelNumbers::scores : LabelNumbers::one_of_all;
}

std::vector<std::vector<double>> classify(const Model& model, std::span<const std::vector<int32_t>> texts) {
  const Config& config = model.config();
  check(config.classifies(),
        "[classify] a model of type \"{}\" without labels does not classify: train an encoder on texts with labels",
        config.model_type);
  std::vector<std::vector<double>> results(texts.size());
  const LabelNumbers numbers = label_numbers(config);
  const auto asked = [](size_t, size_t place) { return place == 0; };
  each_score(model, texts, asked, [&](size_t text, size_t, std::span<const real> logits) {
    const double log_sum = log_sum_of_exp(logits);
    for (const real logit : logits) {
      const auto x = static_cast<double>(logit);
      results[text].push_back(numbers == LabelNumbers::scores ? x
                              : numbers == LabelNumbers::each ? 1 / (1 + std::exp(-x))
                                                              : std::exp(x - log_sum));
    }
  });
  return results;
}

}  // namespace limpid
