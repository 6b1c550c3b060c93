#include "inference/model_text.h"

#include <algorithm>

#include "base/json.h"

namespace limpid {
namespace {

void append(std::vector<int32_t>& ids, const std::vector<int32_t>& more) {
  ids.insert(ids.end(), more.begin(), more.end());
}

// What the files of a model say, be it nothing. One trained by Limpid reads by the custom of its family: a source with
// an end, an encoder's text between the tokens that begin and end one, a language model's behind the first of them.
std::vector<int32_t> ids_before(const LoadedModel& loaded) {
  const Config& config = loaded.config();
  const SpecialIds special = loaded.reader().special();
  // Of translators those that are told languages, and BART, have something there.
  const bool marked = config.model_type == "bart" || config.model_type == "mbart" || config.model_type == "m2m_100";
  if (config.has_source() && !marked) return {};
  const Tokenizers& tokenizers = loaded.tokenizers;
  if (!tokenizers.before.empty() || tokenizers.stated || config.has_source()) return tokenizers.before;
  return special.begin >= 0 && special.begin != special.end ? std::vector{special.begin} : std::vector<int32_t>{};
}

std::vector<int32_t> ids_after(const LoadedModel& loaded) {
  const Tokenizers& tokenizers = loaded.tokenizers;
  const int32_t end = loaded.reader().special().end;
  if (!tokenizers.after.empty() || tokenizers.stated || end < 0 || loaded.config().continues_text())
    return tokenizers.after;
  return {end};
}

// A tokenizer may have more tokens than the model has vectors for; a text that has none of them is read all the same.
void check_known(const LoadedModel& loaded, const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  const int64_t vocab = loaded.config().vocab;
  for (const int32_t id : ids)
    check(
        id < vocab, "[text] the text has the token {} with the id {}, and the model vectors for {}: leave it out",
        [&] { return in_quotes(tokenizer.piece(id)).string(); }, id, vocab);
}

}  // namespace

std::vector<int32_t> wrapped(const LoadedModel& loaded, const std::vector<int32_t>& text) {
  std::vector<int32_t> ids = ids_before(loaded);
  append(ids, text);
  append(ids, ids_after(loaded));
  check_known(loaded, loaded.reader(), ids);
  return ids;
}

void state_special_tokens(LoadedModel& loaded) {
  if (!loaded.tokenizers.source || loaded.tokenizers.stated) return;
  auto before = ids_before(loaded), after = ids_after(loaded);
  loaded.tokenizers.before = std::move(before);
  loaded.tokenizers.after = std::move(after);
}

SpecialCount special_count(const LoadedModel& loaded) {
  return {std::ssize(ids_before(loaded)), std::ssize(ids_after(loaded))};
}

std::vector<int32_t> input_ids(const LoadedModel& loaded, std::string_view text) {
  std::vector<int32_t> ids = wrapped(loaded, loaded.reader().encode(text));
  // The end of what a language model writes is still to come.
  if (loaded.config().continues_text()) ids.resize(ids.size() - ids_after(loaded).size());
  if (!ids.empty()) return ids;
  const SpecialIds special = loaded.reader().special();
  const int32_t begin = special.begin >= 0 ? special.begin : special.end;
  check(begin >= 0, "[text] the model has no token that begins a text: give it some text to read");
  return {begin};
}

std::vector<int32_t> sentence_ids(const LoadedModel& loaded, const std::string& text) {
  const std::string prepared = loaded.sentence.prepared(text);
  std::vector<int32_t> ids = wrapped(loaded, loaded.reader().encode(prepared));
  return ids.empty() ? input_ids(loaded, prepared) : ids;
}

int64_t tokens_left_out(const LoadedModel& loaded, const std::string& prompt) {
  if (prompt.empty() || loaded.sentence.pools_prompt) return 0;
  return std::ssize(sentence_ids(loaded, prompt)) - special_count(loaded).after;
}

int32_t end_token(const LoadedModel& loaded) {
  if (loaded.config().eos_token) return static_cast<int32_t>(*loaded.config().eos_token);
  const std::vector<int32_t>& ends = loaded.generation.rules.ends;
  check(!ends.empty(), "[text] the config does not say which token ends a text: add \"eos_token_id\"");
  return ends.front();
}

std::vector<int32_t> target_ids(const LoadedModel& loaded, std::string_view text) {
  std::vector<int32_t> ids = loaded.writer().encode(text);
  check_known(loaded, loaded.writer(), ids);
  ids.push_back(end_token(loaded));
  return ids;
}

std::vector<int32_t> masked_ids(const LoadedModel& loaded, std::string_view text) {
  const Tokenizer& tokenizer = loaded.reader();
  const int32_t mask =
      loaded.config().mask_token ? static_cast<int32_t>(*loaded.config().mask_token) : tokenizer.special().mask;
  check(mask >= 0 && mask < tokenizer.size() && mask < loaded.config().vocab,
        "[text] the tokenizer has no mask token: take a model that was trained to fill masks");
  const std::string own = tokenizer.piece(mask);
  std::vector<int32_t> ids;
  while (!text.empty()) {
    size_t at = text.size(), length = 0;
    for (const std::string_view name : {std::string_view(own), std::string_view("[MASK]"), std::string_view("<mask>")})
      if (const size_t found = text.find(name); found < at) {
        at = found;
        length = name.size();
      }
    append(ids, tokenizer.encode(text.substr(0, at)));
    if (length > 0) ids.push_back(mask);
    text.remove_prefix(at + length);
  }
  return wrapped(loaded, ids);
}

void check_text(const Config& config, const std::vector<int32_t>& text, size_t number) {
  check(!text.empty(), "[encoder] text {} has no tokens: leave it out", number);
  check(static_cast<int64_t>(text.size()) <= most_positions(config),
        "[encoder] text {} has {} tokens and the model positions for {}: shorten it", number, text.size(),
        most_positions(config));
  for (const int32_t id : text)
    check(id >= 0 && id < config.vocab, "[encoder] text {} has a token {} and the model only {}", number, id,
          config.vocab);
}

}  // namespace limpid
