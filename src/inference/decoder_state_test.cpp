// A decoder's state against the full pass, whatever happens to its rows on the way.

#include "inference/decoder_state.h"

#include <gtest/gtest.h>

#include <set>

#include "base/parallel.h"
#include "inference/small_translators.h"

namespace limpid {
namespace {

using Ids = std::vector<int32_t>;

std::vector<std::string> writer_names() {
  std::vector<std::string> names = small_translator_names();
  for (const char* name : {"gpt2", "gpt2_rms_rotary", "gpt2_post_norm", "llama", "llama_tied_bias"})
    names.emplace_back(name);
  return names;
}

// What a row has read: the text it was added with, and its tokens since.
struct Read {
  Ids text, tokens;
};

// Rows of a state beside what they have read.
class DecoderStates : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    set_threads(1);  // models this small are not worth sharing out
    const bool writes = GetParam().starts_with("gpt2") || GetParam().starts_with("llama");
    small_ = writes ? small_model(small_configs().at(GetParam())) : small_translator(GetParam());
    state_ = make_decoder_state(*small_.model);
  }

  void TearDown() override { set_threads(0); }

  void add(const std::vector<Ids>& texts) {
    const Ids first = state_->add(texts);
    for (size_t i = 0; i < texts.size(); ++i) {
      reads_.push_back({texts[i], {}});
      next_.push_back(first[i]);
    }
  }

  // One step, whose scores must be those of the full pass; then every row takes another token.
  void step() {
    ASSERT_EQ(state_->rows(), static_cast<int64_t>(reads_.size()));
    const Tensor logits = state_->step(next_);
    ASSERT_EQ(logits.rows(), state_->rows());
    for (int64_t i = 0; i < logits.rows(); ++i) {
      const std::vector<real> expected = full_pass(reads_[i]);
      for (int64_t j = 0; j < logits.cols(); ++j)
        ASSERT_NEAR(logits.values()(i, j), expected[j], 2e-4) << "row " << i << " token " << j;
    }
    for (size_t i = 0; i < reads_.size(); ++i) {
      next_[i] = static_cast<int32_t>((5 * i + 3 * ++taken_) % 20 + 3);
      reads_[i].tokens.push_back(next_[i]);
    }
  }

  void keep(const Ids& rows) {
    state_->reorder(rows);
    std::vector<Read> reads;
    Ids next;
    for (int32_t row : rows) {
      reads.push_back(reads_[row]);
      next.push_back(next_[row]);
    }
    reads_ = reads;
    next_ = next;
    // Rows that were one go on differently.
    for (size_t i = 0; i < reads_.size(); ++i) {
      if (reads_[i].tokens.empty()) continue;
      next_[i] = static_cast<int32_t>(3 + (next_[i] + 7 * i) % 20);
      reads_[i].tokens.back() = next_[i];
    }
  }

  std::vector<real> full_pass(const Read& read) const {
    Batch batch;
    if (small_.model->config().continues_text()) {
      Ids all = read.text;
      all.insert(all.end(), read.tokens.begin(), read.tokens.end());
      batch.input = Tokens::of({all});
      batch.labels.assign(all.size(), 0);
    } else {
      Ids target = read.tokens;
      target.push_back(kSmallEnd);
      batch = Batch::pairs({read.text}, {target}, static_cast<int32_t>(*small_.model->config().decoder_start_token));
    }
    limpid::Run run({});
    const Tensor logits = small_.model->logits(run, batch);
    const real* last = logits.values().row(logits.rows() - 1);
    return {last, last + logits.cols()};
  }

  SmallModel small_;
  std::unique_ptr<DecoderState> state_;
  std::vector<Read> reads_;
  Ids next_;
  int64_t taken_ = 0;
};

TEST_P(DecoderStates, EqualTheFullPassWhenRowsComeGoAndRepeat) {
  add({{5, 6, 7, 2}, {8, 2}});
  step();
  step();
  keep({0, 0, 1, 0});  // a beam spreads
  step();
  add({{9, 10, 11, 12, 13, 2}});  // another text joins
  step();
  keep({2, 1, 1, 4, 4, 0});  // and rows change places
  step();
  step();
  keep({3, 4});  // texts leave
  step();
  add({{4, 2}, {6, 2}});
  keep({3, 1, 2});  // a row goes before it has read anything
  step();
  step();
}

TEST_P(DecoderStates, MayBecomeEmptyAndBeFilledAgain) {
  add({{5, 2}});
  step();
  keep({});
  EXPECT_EQ(state_->rows(), 0);
  add({{6, 7, 2}, {8, 2}});
  step();
  step();
}

TEST_P(DecoderStates, AnEmptyProbeChangesNoBitAndAFullOneSeesEveryStep) {
  FunctionProbe empty, names;
  std::set<std::string> seen;
  names.on("*", [&](const Tap& tap) { seen.insert(std::string(tap.name)); });
  std::vector<std::vector<real>> scores;
  for (Probe* probe : {static_cast<Probe*>(nullptr), static_cast<Probe*>(&empty)}) {
    const auto state = make_decoder_state(*small_.model);
    state->watch(probe);
    Ids ids = state->add(std::vector<Ids>{{5, 6, 7, 2}, {9, 2}});
    state->step(ids);
    const Tensor logits = state->step(ids);
    scores.emplace_back(logits.values().data, logits.values().data + logits.rows() * logits.cols());
    state->watch(&names);
    state->step(ids);
  }
  EXPECT_EQ(scores[0], scores[1]);
  EXPECT_TRUE(seen.contains("logits"));
}

TEST_P(DecoderStates, TakeOneTokenARow) {
  add({{5, 2}, {6, 2}});
  EXPECT_THROW(state_->step(Ids{3}), Error);
  EXPECT_THROW(state_->add(std::vector<Ids>{{}}), Error);
}

INSTANTIATE_TEST_SUITE_P(All, DecoderStates, testing::ValuesIn(writer_names()), config_of_test);

TEST(DecoderState, AnEncoderDoesNotWrite) {
  const SmallModel bert = small_model(small_configs().at("bert"));
  EXPECT_THROW(make_decoder_state(*bert.model), Error);
}

}  // namespace
}  // namespace limpid
