#include "inspect/fact_prompts.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "inference/model_text.h"
#include "inspect/effect.h"

namespace limpid {
namespace {

constexpr int64_t kPromptsAtOnce = 128;

// The positions of the tokens of a subject in a prompt: those by which the text without it would be shorter.
std::vector<int64_t> subject_positions(const Tokenizer& tokenizer, const std::string& prompt,
                                       const std::string& subject, size_t before) {
  const size_t at = prompt.find(subject);
  const size_t begin = tokenizer.encode(prompt.substr(0, at)).size();
  const size_t end = tokenizer.encode(prompt.substr(0, at + subject.size())).size();
  std::vector<int64_t> positions;
  for (size_t i = begin; i < end; ++i) positions.push_back(static_cast<int64_t>(before + i));
  return positions;
}

}  // namespace

FactPrompts::FactPrompts(const Session& session, const FactWorld& world) : session_(session) {
  check(session.config().continues_text(),
        "[facts] the world of facts is asked of language models: recipes/facts.toml trains one");
  const Tokenizer& tokenizer = session.reader();
  for (size_t i = 0; i < world.sentences().size(); ++i) {
    const FactSentence& sentence = world.sentences()[i];
    FactPrompt prompt{.sentence = i, .fact = sentence.fact, .pattern = sentence.pattern, .held_out = sentence.held_out};
    prompt.ids = input_ids(session.loaded, sentence.prompt);
    const std::vector<int32_t>& ids = prompt.ids;
    const std::vector<int32_t> whole = input_ids(session.loaded, sentence.text());
    check(whole.size() > ids.size() && std::equal(ids.begin(), ids.end(), whole.begin()),
          "[facts] this tokenizer joins \"{}\" with the words before it: train with tokenizer.kind = \"words\"",
          sentence.answer);
    prompt.answer = whole[ids.size()];
    check(prompt.answer != tokenizer.special().unknown,
          "[facts] the model does not know the word {}: train it on the corpus of facts", sentence.answer);
    prompt.subject = subject_positions(tokenizer, sentence.prompt, world.facts()[sentence.fact].subject,
                                       ids.size() - tokenizer.encode(sentence.prompt).size());
    prompts_.push_back(std::move(prompt));
  }
}

std::vector<size_t> FactPrompts::of_fact(size_t fact) const {
  std::vector<size_t> found;
  for (size_t i = 0; i < prompts_.size(); ++i)
    if (prompts_[i].fact == fact) found.push_back(i);
  return found;
}

std::vector<size_t> FactPrompts::first_paraphrases() const {
  std::vector<size_t> found;
  for (size_t i = 0; i < prompts_.size(); ++i)
    if (prompts_[i].pattern == 0) found.push_back(i);
  return found;
}

std::vector<size_t> FactPrompts::everything() const {
  std::vector<size_t> all(prompts_.size());
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

int32_t FactPrompts::object_token(const std::string& object) const { return session_.token(session_.writer(), object); }

std::vector<FactAnswer> FactPrompts::ask(const Model& model, std::span<const size_t> which, Probe* probe,
                                         std::span<const int32_t> asked) const {
  std::vector<FactAnswer> answers;
  const Arena arena;
  for (size_t begin = 0; begin < which.size(); begin += kPromptsAtOnce) {
    const size_t end = std::min(begin + kPromptsAtOnce, which.size());
    std::vector<std::vector<int32_t>> texts;
    for (size_t i = begin; i < end; ++i) texts.push_back(prompts_[which[i]].ids);
    Batch batch;
    batch.input = Tokens::of(texts);
    std::vector<int32_t> last;
    for (int32_t end_of_text = 0; const auto& text : texts)
      last.push_back((end_of_text += static_cast<int32_t>(text.size())) - 1);
    Run run({.arena = arena, .probe = probe});
    const Tensor logits = model.logits(run, batch, TokenChoice::of(last));
    for (size_t i = begin; i < end; ++i) {
      const real* row = logits.values().row(static_cast<int64_t>(i - begin));
      const int32_t token = asked.empty() ? prompts_[which[i]].answer : asked[i];
      answers.push_back({static_cast<int32_t>(std::max_element(row, row + logits.cols()) - row),
                         log_probabilities(row, logits.cols())[token]});
    }
  }
  return answers;
}

double FactPrompts::recall(std::span<const size_t> which) const {
  const std::vector<FactAnswer> answers = ask(which);
  int64_t right = 0;
  for (size_t i = 0; i < which.size(); ++i) right += answers[i].said == prompts_[which[i]].answer;
  return which.empty() ? 0 : static_cast<double>(right) / static_cast<double>(which.size());
}

Example FactPrompts::example(size_t prompt) const {
  Example example = example_of(session_.config(), {}, prompts_[prompt].ids);
  for (int32_t id : prompts_[prompt].ids) example.input.push_back(session_.reader().piece(id));
  return example;
}

}  // namespace limpid
