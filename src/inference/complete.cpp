#include "inference/complete.h"

#include <algorithm>
#include <limits>

#include "base/parallel.h"
#include "base/random.h"

namespace limpid {

struct Completer::Text {
  int64_t number;
  CompletionRequest request;
  TextStream stream;
  std::vector<int32_t> history;  // what penalties look at: prompt and text; of encoder-decoder models the text
  int64_t room;                  // tokens that the model can still read
  int64_t begin_tokens;          // that stay when the beginning is forgotten
  Completion result = {};
};

namespace {

bool contains(const std::vector<int32_t>& ids, int32_t id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

void check_options(const CompletionOptions& options) {
  check_sampling(options.sampling);
  check(options.max_tokens >= 1, "[complete] at most {} tokens: ask for one at least", options.max_tokens);
  check(options.context >= 0, "[complete] a context of {} tokens: it is 0 (the model's own) or more", options.context);
  check(options.top >= 0, "[complete] the {} likeliest tokens: it is 0 (none) or more", options.top);
}

}  // namespace

std::string_view name_of(Ending ending) {
  switch (ending) {
    case Ending::end_token: return "end token";
    case Ending::stop_string: return "stop string";
    case Ending::max_tokens: return "max tokens";
    case Ending::context_full: return "context full";
    case Ending::cancelled: return "cancelled";
  }
  return "";
}

Completer::Completer(const Model& model, const Tokenizer& tokenizer)
    : model_(model),
      tokenizer_(tokenizer),
      continues_(model.config().family == Family::language_model),
      state_(make_decoder_state(model)) {
  const Config& config = model.config();
  const SpecialIds special = tokenizer.special();
  if (config.eos_token) ends_.push_back(static_cast<int32_t>(*config.eos_token));
  if (special.end >= 0 && !contains(ends_, special.end)) ends_.push_back(special.end);
  for (const auto& token : {config.pad_token, config.decoder_start_token})
    if (token && !contains(ends_, static_cast<int32_t>(*token))) never_.push_back(static_cast<int32_t>(*token));
  if (special.pad >= 0 && !contains(ends_, special.pad)) never_.push_back(special.pad);
}

int64_t Completer::context_of(const CompletionOptions& options) const {
  const int64_t most = most_positions(model_.config());
  if (!continues_) return most;
  const int64_t own = model_.config().max_positions > 0 ? model_.config().max_positions : most;
  const int64_t context = options.context > 0 ? options.context : own;
  check(context <= most, "[complete] a context of {} tokens: the model has positions for {}", context, most);
  check(context >= 2, "[complete] a context of {} tokens: it takes two to go on from one", context);
  return context;
}

int64_t Completer::add(CompletionRequest request) {
  check_options(request.options);
  const int64_t context = context_of(request.options);
  const auto length = static_cast<int64_t>(request.ids.size());
  check(length > 0, "[complete] there is nothing to go on from: give a prompt of one token at least");
  for (const int32_t id : request.ids)
    check(id >= 0 && id < model_.config().vocab, "[complete] the prompt has a token {} and the model only {}", id,
          model_.config().vocab);
  check(!continues_ || length <= context,
        "[complete] the prompt has {} tokens and the model's context {}: shorten the prompt", length, context);
  check(!continues_ || request.prefix.empty(), "[complete] a language model takes a prompt, no forced prefix");
  const auto prompt = continues_ ? std::span<const int32_t>(request.ids) : std::span<const int32_t>();
  auto text = std::make_unique<Text>(Text{.number = added_,
                                          .stream = TextStream(tokenizer_, prompt, request.options.stop),
                                          .history = {prompt.begin(), prompt.end()},
                                          .room = context - (continues_ ? length - 1 : 0),
                                          .begin_tokens = 0});
  if (continues_ && request.ids[0] == tokenizer_.special().begin) text->begin_tokens = 1;
  const std::vector<int32_t> first = state_->add(std::span(&request.ids, 1));
  ids_.push_back(first.at(0));
  text->request = std::move(request);
  texts_.push_back(std::move(text));
  return added_++;
}

// Rows that go on, in their order.
void Completer::keep(const std::vector<bool>& going_on) {
  std::vector<int32_t> rows, ids;
  std::vector<std::unique_ptr<Text>> texts;
  for (size_t i = 0; i < going_on.size(); ++i) {
    if (!going_on[i]) continue;
    rows.push_back(static_cast<int32_t>(i));
    ids.push_back(ids_[i]);
    texts.push_back(std::move(texts_[i]));
  }
  if (rows.size() < going_on.size()) state_->keep(rows);
  ids_ = std::move(ids);
  texts_ = std::move(texts);
}

// Texts whose context is full leave, or go on from their later half, which is read anew: positions are part of what the
// model has made of the tokens, so the keys and values of before cannot be moved.
std::vector<Completer::Finished> Completer::make_room() {
  std::vector<Finished> finished;
  std::vector<bool> going_on(texts_.size(), true);
  std::vector<std::unique_ptr<Text>> sliding;
  for (size_t i = 0; i < texts_.size(); ++i) {
    Text& text = *texts_[i];
    if (text.room > 0) continue;
    going_on[i] = false;
    if (continues_ && text.request.options.slide) {
      sliding.push_back(std::move(texts_[i]));
    } else {
      end(text, Ending::context_full);
      finished.push_back({text.number, std::move(text.result)});
    }
  }
  if (std::all_of(going_on.begin(), going_on.end(), [](bool stays) { return stays; })) return finished;
  keep(going_on);
  std::vector<std::vector<int32_t>> beginnings;
  for (const auto& text : sliding) {
    const int64_t context = context_of(text->request.options);
    const int64_t kept = std::max<int64_t>(1, context / 2 - text->begin_tokens);
    auto& ids = beginnings.emplace_back(text->history.begin(), text->history.begin() + text->begin_tokens);
    ids.insert(ids.end(), text->history.end() - kept, text->history.end());
    text->room = context - (static_cast<int64_t>(ids.size()) - 1);
    text->result.forgotten = static_cast<int64_t>(text->history.size() - ids.size());
  }
  for (const int32_t id : state_->add(beginnings)) ids_.push_back(id);
  for (auto& text : sliding) texts_.push_back(std::move(text));
  return finished;
}

Completer::Choice Completer::choose(const Text& text, std::span<const real> logits) const {
  const CompletionOptions& options = text.request.options;
  const double log_sum = log_sum_of_exp(logits);
  // A model may have more ids than its tokenizer has tokens: those are no text.
  const auto tokens = logits.first(std::min(logits.size(), static_cast<size_t>(tokenizer_.size())));
  const size_t written = text.result.tokens.size();
  Choice choice;
  if (written < text.request.prefix.size()) {
    choice.id = text.request.prefix[written];
  } else {
    SamplingOptions sampling = options.sampling;
    sampling.never.insert(sampling.never.end(), never_.begin(), never_.end());
    if (options.ignore_end) sampling.never.insert(sampling.never.end(), ends_.begin(), ends_.end());
    Random random(random_key(options.seed, written, text.request.sample));
    choice.id = draw(candidates(tokens, text.history, sampling), random.uniform()).id;
  }
  check(choice.id >= 0 && static_cast<size_t>(choice.id) < logits.size(), "[complete] no token {} among {}", choice.id,
        logits.size());
  choice.log_probability = static_cast<double>(logits[choice.id]) - log_sum;
  choice.top = likeliest(logits, options.top, log_sum);
  return choice;
}

void Completer::end(Text& text, Ending ending) const {
  const std::string rest = text.stream.finish();
  if (text.stream.stopped()) ending = Ending::stop_string;
  if (ending == Ending::stop_string) text.result.stop_string = text.stream.stop_string();
  text.result.text += rest;
  text.result.ending = ending;
  if (text.request.listener && ending != Ending::cancelled) text.request.listener({rest, nullptr});
}

// Whether the text goes on.
bool Completer::accept(Text& text, Choice choice) const {
  Completion& result = text.result;
  result.log_probability += choice.log_probability;
  --text.room;
  if (contains(ends_, choice.id) && result.tokens.size() >= text.request.prefix.size()) {
    end(text, Ending::end_token);
    return false;
  }
  text.history.push_back(choice.id);
  result.tokens.push_back({choice.id, choice.log_probability, std::move(choice.top)});
  const std::string part = text.stream.add(choice.id);
  result.text += part;
  const bool heard = !text.request.listener || text.request.listener({part, &result.tokens.back()});
  if (heard && !text.stream.stopped() && static_cast<int64_t>(result.tokens.size()) < text.request.options.max_tokens)
    return true;
  end(text, text.stream.stopped() ? Ending::stop_string : heard ? Ending::max_tokens : Ending::cancelled);
  return false;
}

std::vector<Completer::Finished> Completer::step() {
  std::vector<Finished> finished = make_room();
  if (texts_.empty()) return finished;
  const Tensor logits = state_->step(ids_);
  const ConstMatrix rows = logits.values();
  std::vector<Choice> choices(texts_.size());
  parallel_for(running(), [&](int64_t i) {
    choices[i] = choose(*texts_[i], {rows.row(i), static_cast<size_t>(rows.cols)});
  });
  std::vector<bool> going_on(texts_.size());
  for (size_t i = 0; i < texts_.size(); ++i) {
    ids_[i] = choices[i].id;
    going_on[i] = accept(*texts_[i], std::move(choices[i]));
    if (!going_on[i]) finished.push_back({texts_[i]->number, std::move(texts_[i]->result)});
  }
  keep(going_on);
  return finished;
}

std::vector<Completion> complete(const Model& model, const Tokenizer& tokenizer,
                                 std::span<const CompletionRequest> requests, int64_t texts_at_once) {
  check(texts_at_once >= 1, "[complete] {} texts at once: it takes one", texts_at_once);
  std::vector<Completion> results(requests.size());
  Completer completer(model, tokenizer);
  size_t next = 0;
  while (next < requests.size() || completer.running() > 0) {
    while (next < requests.size() && completer.running() < texts_at_once) completer.add(requests[next++]);
    for (auto& [number, completion] : completer.step()) results[static_cast<size_t>(number)] = std::move(completion);
  }
  return results;
}

}  // namespace limpid
