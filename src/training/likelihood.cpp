#include "training/likelihood.h"

#include <cmath>

#include "base/error.h"
#include "training/dataset.h"

namespace limpid {
namespace {

// Scores ids as they come, a window at a time; windows overlap by the token that the next one begins with.
class WindowScorer {
 public:
  WindowScorer(const Model& model, size_t window, Likelihood& into) : model_(model), window_(window), into_(into) {}

  void add(const std::vector<int32_t>& ids) {
    waiting_.insert(waiting_.end(), ids.begin(), ids.end());
    while (waiting_.size() - begin_ > window_) score(window_ + 1);
    // What has been scored goes when it is the greater part, so that the cost per token stays the same.
    if (begin_ <= waiting_.size() / 2) return;
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<ptrdiff_t>(begin_));
    begin_ = 0;
  }
  // The text is over: what is left is scored, and the next one begins anew.
  void end() {
    if (waiting_.size() - begin_ > 1) score(waiting_.size() - begin_);
    waiting_.clear();
    begin_ = 0;
  }

 private:
  void score(size_t count) {
    const auto first = waiting_.begin() + static_cast<ptrdiff_t>(begin_);
    Run run({.arena = arena_});
    const Loss loss = model_.loss(run, Batch::next_tokens({{first, first + static_cast<ptrdiff_t>(count)}}), {});
    into_.nats += loss.sum();
    into_.tokens += loss.tokens();
    begin_ += count - 1;
  }

  const Model& model_;
  size_t window_;
  Likelihood& into_;
  Arena arena_;
  std::vector<int32_t> waiting_;
  size_t begin_ = 0;
};

}  // namespace

double Likelihood::perplexity() const { return std::exp(loss()); }

double Likelihood::bits_per_byte() const { return nats / std::log(2) / static_cast<double>(bytes); }

Likelihood measure_likelihood(const LoadedModel& loaded, const Recipe& recipe) {
  const Tokenizer& tokenizer = loaded.reader();
  const SpecialIds special = tokenizer.special();
  const bool stream = recipe.data.unit == "stream";
  const auto window =
      static_cast<size_t>(stream && recipe.batch.window > 0 ? recipe.batch.window : loaded.config().max_positions);
  Likelihood result;
  WindowScorer scorer(*loaded.model, window, result);
  CorpusReader reader(corpus_files(recipe, recipe.data.test));
  while (const auto example = reader.next()) {
    const bool ends = !example->goes_on;
    result.bytes += static_cast<int64_t>(example->first.size()) + ends;
    std::vector<int32_t> ids = tokenizer.encode(stream && ends && special.end < 0 ? std::string(example->first) + '\n'
                                                                                  : std::string(example->first));
    if (!stream && special.begin >= 0) ids.insert(ids.begin(), special.begin);
    if (ends && special.end >= 0) ids.push_back(special.end);
    scorer.add(ids);
    if (!stream) scorer.end();
  }
  scorer.end();
  check(result.tokens > 0, "[evaluate] there is nothing to predict in {}", recipe.data.test[0]);
  return result;
}

}  // namespace limpid
