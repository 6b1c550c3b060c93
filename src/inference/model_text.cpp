#include "inference/model_text.h"

#include <algorithm>

namespace limpid {
namespace {

void append(std::vector<int32_t>& ids, const std::vector<int32_t>& more) {
  ids.insert(ids.end(), more.begin(), more.end());
}

// A model trained by Limpid reads its source with an end, and an encoder its text between the tokens that begin and
// end one; others by the custom of their families. The files of a model may say otherwise.
std::vector<int32_t> ids_before(const LoadedModel& loaded) {
  const Config& config = loaded.config();
  const SpecialIds special = loaded.reader().special();
  // Of translators those that are told languages, and BART, have something there.
  const bool marked = config.model_type == "bart" || config.model_type == "mbart" || config.model_type == "m2m_100";
  if (config.has_source() && !marked) return {};
  if (!loaded.tokenizers.before.empty() || config.has_source()) return loaded.tokenizers.before;
  if (loaded.tokenizers.stated && !config.continues_text()) return {};
  return special.begin >= 0 && special.begin != special.end ? std::vector{special.begin} : std::vector<int32_t>{};
}

std::vector<int32_t> ids_after(const LoadedModel& loaded) {
  if (loaded.config().continues_text()) return {};
  const int32_t end = loaded.reader().special().end;
  if (!loaded.tokenizers.after.empty() || loaded.tokenizers.stated || end < 0) return loaded.tokenizers.after;
  return {end};
}

}  // namespace

std::vector<int32_t> wrapped(const LoadedModel& loaded, const std::vector<int32_t>& text) {
  std::vector<int32_t> ids = ids_before(loaded);
  append(ids, text);
  append(ids, ids_after(loaded));
  return ids;
}

SpecialCount special_count(const LoadedModel& loaded) {
  return {std::ssize(ids_before(loaded)), std::ssize(ids_after(loaded))};
}

std::vector<int32_t> input_ids(const LoadedModel& loaded, std::string_view text) {
  std::vector<int32_t> ids = wrapped(loaded, loaded.reader().encode(text));
  if (!ids.empty()) return ids;
  const SpecialIds special = loaded.reader().special();
  const int32_t begin = special.begin >= 0 ? special.begin : special.end;
  check(begin >= 0, "[text] the model has no token that begins a text: give it some text to read");
  return {begin};
}

int32_t end_token(const LoadedModel& loaded) {
  if (loaded.config().eos_token) return static_cast<int32_t>(*loaded.config().eos_token);
  const std::vector<int32_t>& ends = loaded.generation.rules.ends;
  check(!ends.empty(), "[text] the config does not say which token ends a text: add \"eos_token_id\"");
  return ends.front();
}

std::vector<int32_t> target_ids(const LoadedModel& loaded, std::string_view text) {
  std::vector<int32_t> ids = loaded.writer().encode(text);
  ids.push_back(end_token(loaded));
  return ids;
}

std::vector<int32_t> masked_ids(const LoadedModel& loaded, std::string_view text) {
  const Tokenizer& tokenizer = loaded.reader();
  const int32_t mask =
      loaded.config().mask_token ? static_cast<int32_t>(*loaded.config().mask_token) : tokenizer.special().mask;
  check(mask >= 0 && mask < tokenizer.size(),
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
