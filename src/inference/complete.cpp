#include "inference/complete.h"

#include <algorithm>
#include <limits>

#include "base/random.h"

namespace limpid {
namespace {

bool contains(const std::vector<int32_t>& ids, int32_t id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

int64_t context_of(const Config& config, const CompletionOptions& options) {
  const int64_t most = most_positions(config);
  if (!config.continues_text()) return most;
  const int64_t context = options.context > 0 ? options.context : context_length(config);
  check(context <= most, "[complete] a context of {} tokens: the model has positions for {}", context, most);
  check(context >= 2, "[complete] a context of {} tokens: it takes two to go on from one", context);
  return context;
}

void check_request(const Config& config, const CompletionRequest& request) {
  const CompletionOptions& options = request.options;
  check_sampling(options.sampling);
  check(options.max_tokens >= 1, "[complete] at most {} tokens: ask for one at least", options.max_tokens);
  check(options.context >= 0, "[complete] a context of {} tokens: it is 0 (the model's own) or more", options.context);
  check(options.top >= 0, "[complete] the {} likeliest tokens: it is 0 (none) or more", options.top);
  const bool continues = config.continues_text();
  const auto length = static_cast<int64_t>(request.ids.size());
  check(length > 0, "[complete] there is nothing to go on from: give a prompt of one token at least");
  for (const int32_t id : request.ids)
    check(id >= 0 && id < config.vocab, "[complete] the prompt has a token {} and the model only {}", id, config.vocab);
  for (const int32_t id : request.prefix)
    check(id >= 0 && id < config.vocab, "[complete] the prefix has a token {} and the model only {}", id, config.vocab);
  check(!continues || length <= context_of(config, options),
        "[complete] the prompt has {} tokens and the model's context {}: shorten the prompt", length,
        context_of(config, options));
  check(!continues || request.prefix.empty(), "[complete] a language model takes a prompt, no forced prefix");
}

class SamplingTask : public GenerationTask {
 public:
  SamplingTask(const Config& config, const Tokenizer& tokenizer, CompletionRequest request,
               std::function<void(Completion)> done)
      : tokenizer_(tokenizer),
        continues_(config.continues_text()),
        request_(std::move(request)),
        rules_(request_.options.rules),
        done_(std::move(done)),
        context_(context_of(config, request_.options)),
        text_(request_.ids),
        history_(continues_ ? request_.ids : std::vector<int32_t>()),
        stream_(tokenizer, history_, request_.options.stop) {
    SamplingOptions& sampling = request_.options.sampling;
    add_special_tokens(config, tokenizer_, rules_, sampling);
    if (request_.options.ignore_end)
      sampling.never.insert(sampling.never.end(), rules_.ends.begin(), rules_.ends.end());
    const auto length = static_cast<int64_t>(request_.ids.size());
    room_ = context_ - (continues_ ? length - 1 : 0);
    begin_tokens_ = continues_ && request_.ids[0] == tokenizer.special().begin ? 1 : 0;
    const auto& first = rules_.forced_first;
    if (!continues_ && first && (request_.prefix.empty() || request_.prefix[0] != *first))
      request_.prefix.insert(request_.prefix.begin(), *first);
    rules_.forced_first.reset();
  }

  const std::vector<int32_t>& text() const override { return text_; }

  Limits limits() const override {
    const auto before = continues_ ? static_cast<int64_t>(request_.ids.size()) : 1;
    const int64_t room = std::numeric_limits<int64_t>::max() - before;
    const auto asked = std::max(request_.options.max_tokens, static_cast<int64_t>(request_.prefix.size()));
    return {1, std::min(context_, before + std::min(asked, room))};
  }

  void on_logits(int64_t /*row*/, std::span<real> scores) override {
    const CompletionOptions& options = request_.options;
    const double log_sum = log_sum_of_exp(scores);
    choice_ = {.top = likeliest(scores, options.top, log_sum)};
    const std::vector<real> own = rules_.any() ? std::vector<real>(scores.begin(), scores.end()) : std::vector<real>();
    const size_t written = result_.tokens.size();
    choice_.id = written < request_.prefix.size() ? request_.prefix[written] : drawn(scores);
    check(choice_.id >= 0 && static_cast<size_t>(choice_.id) < scores.size(), "[complete] no token {} among {}",
          choice_.id, scores.size());
    const real score = own.empty() ? scores[choice_.id] : own[choice_.id];
    choice_.log_probability = static_cast<double>(score) - log_sum;
  }

  void advance() override {
    result_.log_probability += choice_.log_probability;
    --room_;
    anew_ = false;
    if (contains(rules_.ends, choice_.id) && result_.tokens.size() >= request_.prefix.size())
      return end(FinishReason::end_token);
    history_.push_back(choice_.id);
    result_.tokens.push_back(std::move(choice_));
    const GeneratedToken& token = result_.tokens.back();
    const std::string part = stream_.add(token.id);
    result_.text += part;
    const bool heard = !request_.listener || request_.listener({part, &token});
    if (stream_.stopped()) return end(FinishReason::stop_string);
    if (!heard) return end(FinishReason::cancelled);
    if (static_cast<int64_t>(result_.tokens.size()) >= request_.options.max_tokens)
      return end(FinishReason::max_tokens);
    if (room_ > 0) return;
    if (!continues_ || !request_.options.slide) return end(FinishReason::context_full);
    slide();
  }

  std::vector<Row> rows() const override {
    if (ended_) return {};
    return {{0, history_.back()}};
  }
  bool starts_anew() const override { return anew_; }

  void finish() override { done_(std::move(result_)); }
  void stop(FinishReason reason) override {
    end(reason);
    finish();
  }

 private:
  int32_t drawn(std::span<real> scores) const {
    const auto written = static_cast<int64_t>(result_.tokens.size());
    const bool last = written + 1 == request_.options.max_tokens;
    apply_token_rules(rules_, {history_, written, last}, scores);
    // A model may have more ids than its tokenizer has tokens: those are no text.
    const auto tokens = scores.first(std::min(scores.size(), static_cast<size_t>(tokenizer_.size())));
    Random random(random_key(request_.options.seed, static_cast<uint64_t>(written), request_.sample));
    return draw(candidates(tokens, history_, request_.options.sampling), random.uniform()).id;
  }

  // Goes on from the later half, which is read anew: positions are part of what the model has made of the tokens, so
  // the keys and values of before cannot be moved.
  void slide() {
    const int64_t kept = std::max<int64_t>(1, context_ / 2 - begin_tokens_);
    text_.assign(history_.begin(), history_.begin() + begin_tokens_);
    text_.insert(text_.end(), history_.end() - kept, history_.end());
    room_ = context_ - (static_cast<int64_t>(text_.size()) - 1);
    result_.forgotten = static_cast<int64_t>(history_.size() - text_.size());
    anew_ = true;
  }

  void end(FinishReason reason) {
    const std::string rest = stream_.finish();
    if (stream_.stopped()) reason = FinishReason::stop_string;
    if (reason == FinishReason::stop_string) result_.stop_string = stream_.stop_string();
    result_.text += rest;
    result_.finish_reason = reason;
    ended_ = true;
    if (request_.listener && reason != FinishReason::cancelled) request_.listener({rest, nullptr});
  }

  const Tokenizer& tokenizer_;
  bool continues_;  // a prompt: a language model
  CompletionRequest request_;
  TokenRules rules_;
  std::function<void(Completion)> done_;
  int64_t context_;
  std::vector<int32_t> text_;     // what the model reads first
  std::vector<int32_t> history_;  // what rules look at: prompt and text; of encoder-decoder models the text
  TextStream stream_;
  int64_t room_ = 0;          // tokens that the model can still read
  int64_t begin_tokens_ = 0;  // that stay when the beginning is forgotten
  GeneratedToken choice_;
  bool anew_ = false, ended_ = false;
  Completion result_;
};

}  // namespace

void add_special_tokens(const Config& config, const Tokenizer& tokenizer, TokenRules& rules,
                        SamplingOptions& sampling) {
  const SpecialIds special = tokenizer.special();
  std::vector<int32_t>& ends = rules.ends;
  if (config.eos_token && !contains(ends, static_cast<int32_t>(*config.eos_token)))
    ends.push_back(static_cast<int32_t>(*config.eos_token));
  if (special.end >= 0 && !contains(ends, special.end)) ends.push_back(special.end);
  for (const auto& token : {config.pad_token, config.decoder_start_token})
    if (token && !contains(ends, static_cast<int32_t>(*token))) sampling.never.push_back(static_cast<int32_t>(*token));
  if (special.pad >= 0 && !contains(ends, special.pad)) sampling.never.push_back(special.pad);
}

std::string_view name_of(FinishReason reason) {
  switch (reason) {
    case FinishReason::end_token: return "end token";
    case FinishReason::stop_string: return "stop string";
    case FinishReason::max_tokens: return "max tokens";
    case FinishReason::context_full: return "context full";
    case FinishReason::cancelled: return "cancelled";
    case FinishReason::deadline: return "deadline";
  }
  return "";
}

std::unique_ptr<GenerationTask> make_completion(const Config& config, const Tokenizer& tokenizer,
                                                CompletionRequest request, std::function<void(Completion)> done) {
  check_request(config, request);
  return std::make_unique<SamplingTask>(config, tokenizer, std::move(request), std::move(done));
}

std::vector<Completion> complete(const Model& model, const Tokenizer& tokenizer,
                                 std::span<const CompletionRequest> requests, const EngineOptions& options) {
  std::vector<Completion> results(requests.size());
  Engine engine(model, options);
  for (size_t i = 0; i < requests.size(); ++i)
    engine.add(make_completion(model.config(), tokenizer, requests[i],
                               [&results, i](Completion completion) { results[i] = std::move(completion); }));
  while (engine.step()) {
  }
  return results;
}

}  // namespace limpid
