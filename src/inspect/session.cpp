#include "inspect/session.h"

#include <algorithm>
#include <charconv>

#include "inference/decoder_state.h"
#include "inference/generate.h"
#include "inference/model_text.h"
#include "inspect/pass.h"
#include "inspect/pass_memory.h"
#include "text/unknown_words.h"

namespace limpid {
namespace {

bool has_two_sides(const Config& config) { return config.has_source(); }

void check_length(const Config& config, size_t tokens) {
  const int64_t most = most_positions(config);
  check(static_cast<int64_t>(tokens) <= most, "[look] the text has {} tokens, the model reads {}: give a shorter one",
        tokens, most);
}

}  // namespace

bool Session::two_sided() const { return has_two_sides(config()); }

Example Session::example(const Text& text) const {
  if (!two_sided()) {
    check(text.target.empty(), "[look] this model reads one text: leave the second one out");
    const std::vector<int32_t> ids = input_ids(loaded, text.text);
    Example example = example_of(config(), {}, ids);
    example.input = pieces_of(reader(), ids);
    return example;
  }
  const std::vector<int32_t> source = input_ids(loaded, text.text);
  check_length(config(), source.size());
  std::vector<int32_t> target;
  if (text.target.empty()) {
    target = translate(model(), std::span(&source, 1), {.beam = 1}).at(0).at(0).ids;
  } else {
    target = writer().encode(text.target);
  }
  target = with_end(std::move(target), writer().special().end);
  Example example = example_of(config(), source, target);
  example.source = pieces_of(reader(), source);
  example.input = pieces_of(writer(), example.batch.input.ids);
  return example;
}

int32_t Session::token(const Tokenizer& tokenizer, const std::string& word) const {
  if (word.size() > 1 && word[0] == '#') {
    int32_t id = -1;
    const auto [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), id);
    if (error == std::errc() && end == word.data() + word.size()) {
      check(id >= 0 && id < config().vocab, "[look] there is no token {}: the vocabulary has {}", word, config().vocab);
      return id;
    }
  }
  for (int32_t id = 0; id < tokenizer.size(); ++id)
    if (tokenizer.piece(id) == word) return id;
  const std::vector<int32_t> ids = tokenizer.encode(word);
  check(!ids.empty(), "[look] \"{}\" is no token: name a word, a piece of one, or #ID", word);
  check(ids[0] != tokenizer.special().unknown, "[look] \"{}\" is not in the model's vocabulary{}", word,
        [&] { return nearest_token(tokenizer, word); });
  return ids[0];
}

std::string Session::piece(int32_t id) const {
  if (const auto& labels = config().labels; !labels.empty()) {
    check(id >= 0 && id < std::ssize(labels), "[look] there is no label {}: the model has {}", id, labels.size());
    return labels[static_cast<size_t>(id)];
  }
  return piece_of(writer(), id);
}

const std::vector<TapInfo>& Session::taps() const {
  std::call_once(found->once, [&] { found->taps = list_taps(model()); });
  return found->taps;
}

Session open_session(const std::filesystem::path& folder) { return {load_model(folder)}; }

std::string piece_of(const Tokenizer& tokenizer, int32_t id) {
  return id < tokenizer.size() ? tokenizer.piece(id) : "#" + std::to_string(id);
}

std::vector<std::string> pieces_of(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  std::vector<std::string> texts;
  for (int32_t id : ids) texts.push_back(piece_of(tokenizer, id));
  return texts;
}

Example example_of(const Config& config, const std::vector<int32_t>& source, const std::vector<int32_t>& ids) {
  check(!ids.empty(), "[look] the text is empty: give at least one word");
  check_length(config, ids.size());
  Example example;
  if (has_two_sides(config)) {
    example.batch = Batch::pairs({source}, {ids}, start_token(config));
    example.next = ids;
    return example;
  }
  example.batch.input = Tokens::of({ids});
  example.next.assign(ids.size(), -1);
  if (config.continues_text()) std::copy(ids.begin() + 1, ids.end(), example.next.begin());
  if (!config.writes() && config.labels.empty()) example.next = ids;  // what stands there
  if (!config.labels.empty()) example.choice = TokenChoice::first_of_each(example.batch.input.sequences);
  return example;
}

Tensor forward_logits(const Model& model, const Example& example, Probe* probe) {
  if (!probe && example.memory && model.config().has_output()) return example.memory->logits(model, example);
  Pass pass(example, probe);
  Run run({.probe = pass.probe()});
  if (!model.config().has_output()) return model.forward(run, example.batch, example.choice);  // the last there is
  return model.logits(run, example.batch, example.choice);
}

int32_t likeliest_token(const Model& model, const Example& example, int64_t position) {
  const Tensor logits = forward_logits(model, example, nullptr);
  const real* row = logits.values().row(model.config().labels.empty() ? position_of(example, position) : 0);
  return static_cast<int32_t>(std::max_element(row, row + logits.cols()) - row);
}

int64_t position_of(const Example& example, int64_t position) {
  const int64_t count = example.positions(), from_start = position < 0 ? count + position : position;
  check(from_start >= 0 && from_start < count, "[look] there is no position {}: the text has {} tokens, 0 … {}",
        position, count, count - 1);
  return from_start;
}

std::string stack_scope(const Config& config, const std::string& side) {
  check(side.empty() || side == "encoder" || side == "decoder",
        "[look] there is no side \"{}\": it is encoder or decoder", side);
  if (!has_two_sides(config)) return "blocks";
  return side.empty() ? "decoder" : side;
}

const StackConfig& stack_config(const Config& config, const std::string& side) {
  if (!has_two_sides(config)) return config.stack();
  return side == "encoder" ? config.encoder : config.decoder;
}

}  // namespace limpid
