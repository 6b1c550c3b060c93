#include "server/openai_answer.h"

#include <algorithm>
#include <ctime>
#include <numeric>

#include "server/metrics.h"
#include "server/openai_json.h"
#include "server/router.h"

namespace limpid {
namespace {

using Clock = std::chrono::steady_clock;

// All of it but the constructor runs on the engine's thread.
class CompletionAnswer : public std::enable_shared_from_this<CompletionAnswer> {
 public:
  CompletionAnswer(const OpenAiContext& context, OpenAiStyle style, OpenAiCall call, const std::string& id,
                   std::shared_ptr<Reply> reply)
      : model_(context.model),
        metrics_(context.metrics),
        style_(style),
        call_(std::move(call)),
        id_((style == OpenAiStyle::chat ? "chatcmpl-" : "cmpl-") + id),
        reply_(std::move(reply)),
        results_(call_.prompts.size() * static_cast<size_t>(call_.best_of)),
        open_(results_.size()),
        last_tokens_(results_.size()) {
    for (const OpenAiCall::Prompt& prompt : call_.prompts)
      usage_.prompt_tokens += static_cast<int64_t>(prompt.ids.size());
    const bool goes_on = model_.config().continues_text();
    for (size_t i = 0; i < results_.size(); ++i) logprobs_.emplace_back(style, tokenizer(), !goes_on);
  }

  // The log-probabilities of an echoed prompt.
  void score_prompts() {
    std::vector<std::vector<int32_t>> texts;
    for (const OpenAiCall::Prompt& prompt : call_.prompts) texts.push_back(prompt.ids);
    prompt_scores_ = score_texts(*model_.loaded().model, texts, {.top = call_.logprobs});
  }

  void start(const RequestLimits& limits, const std::optional<Deadline>& deadline) {
    if (call_.echo)
      for (size_t i = 0; i < results_.size(); ++i) echo(i);
    if (call_.options.max_tokens == 0) return finish_empty();
    EngineService::Job job;
    job.deadline = deadline;
    job.failed = [self = shared_from_this()](const HttpError& error) { self->fail(error); };
    for (size_t i = 0; i < results_.size(); ++i) job.texts.push_back(make_text(i, limits));
    if (call_.stream) job.accepted = [this] { begin_stream(); };
    const auto number = model_.writer().submit(std::move(job));
    count_tokens(metrics_, model_, usage_.prompt_tokens, 0);
    reply_->on_cancel([&model = model_, number] { model.writer().cancel(number); });
  }

 private:
  const Tokenizer& tokenizer() const { return *model_.loaded().tokenizers.target; }
  size_t prompt_of(size_t text) const { return text / static_cast<size_t>(call_.best_of); }

  std::unique_ptr<GenerationTask> make_text(size_t i, const RequestLimits& limits) {
    const OpenAiCall::Prompt& prompt = call_.prompts[prompt_of(i)];
    CompletionRequest request{.ids = prompt.ids};
    request.options = completion_options(call_, model_, std::ssize(prompt.ids), limits);
    request.sample = static_cast<uint64_t>(i % static_cast<size_t>(call_.best_of));
    request.listener = [this, i](const CompletionPart& part) { return heard(i, part); };
    return make_completion(
        model_.config(), tokenizer(), std::move(request),
        [self = shared_from_this(), i](Completion completion) { self->done(i, std::move(completion)); });
  }

  // A text has no more than this to say in a stream; the engine drops it where the client has left.
  bool heard(size_t i, const CompletionPart& part) {
    if (part.token) {
      observe_token(i);
      if (call_.logprobs >= 0) logprobs_[i].add(*part.token);
    }
    if (call_.stream && (!part.text.empty() || (part.token && call_.logprobs >= 0)))
      send_chunk(choice(i, std::string(part.text), nullptr));
    return !reply_->cancelled();
  }

  void observe_token(size_t i) {
    if (!metrics_) return;
    const Clock::time_point now = Clock::now();
    const std::optional<Clock::time_point> before = std::exchange(last_tokens_[i], now);
    const double seconds = std::chrono::duration<double>(now - before.value_or(begin_)).count();
    metrics_->observe(before ? "token_seconds" : "first_token_seconds", {{"model", model_.id}}, seconds);
  }

  void done(size_t i, Completion completion) {
    const auto tokens = static_cast<int64_t>(completion.tokens.size());
    usage_.completion_tokens += tokens;
    count_tokens(metrics_, model_, 0, tokens);
    if (completion.finish_reason == FinishReason::deadline)
      return fail(HttpError(408, "The request took longer than is allowed."));
    if (completion.finish_reason == FinishReason::cancelled) {
      --open_;
      return;
    }
    if (call_.stream) send_chunk(choice(i, "", finish_reason(completion.finish_reason)));
    results_[i] = std::move(completion);
    if (--open_ == 0) finish();
  }

  void finish() {
    if (failed_) return;
    if (call_.stream) {
      if (call_.include_usage) {
        OrderedJson chunk = envelope(true);
        chunk["choices"] = OrderedJson::array();
        chunk["usage"] = usage_json(usage_);
        reply_->write(event_text(dump_json(chunk)));
      }
      reply_->write(event_text("[DONE]"));
      return reply_->end();
    }
    OrderedJson body = envelope(false);
    body["choices"] = OrderedJson::array();
    for (size_t prompt = 0; prompt < call_.prompts.size(); ++prompt)
      for (const size_t text : best_of(prompt))
        body["choices"].push_back(choice(text, results_[text].text, finish_reason(results_[text].finish_reason)));
    for (size_t i = 0; i < body["choices"].size(); ++i) body["choices"][i]["index"] = i;
    body["usage"] = usage_json(usage_);
    reply_->send({200, dump_json(body)});
  }

  // Nothing is to be written: the prompt alone is looked at.
  void finish_empty() {
    count_tokens(metrics_, model_, usage_.prompt_tokens, 0);
    for (Completion& result : results_) result.finish_reason = FinishReason::max_tokens;
    if (call_.stream) {
      begin_stream();
      for (size_t i = 0; i < results_.size(); ++i) send_chunk(choice(i, "", "length"));
    }
    finish();
  }

  // The n likeliest of a prompt's texts, by the mean of their tokens' log-probabilities.
  std::vector<size_t> best_of(size_t prompt) const {
    std::vector<size_t> texts(static_cast<size_t>(call_.best_of));
    std::iota(texts.begin(), texts.end(), prompt * texts.size());
    if (call_.best_of == call_.n) return texts;
    const auto mean = [&](size_t text) {
      const Completion& result = results_[text];
      return result.log_probability / static_cast<double>(std::max<size_t>(1, result.tokens.size()));
    };
    std::stable_sort(texts.begin(), texts.end(), [&](size_t a, size_t b) { return mean(a) > mean(b); });
    texts.resize(static_cast<size_t>(call_.n));
    return texts;
  }

  void fail(const HttpError& error) {
    if (std::exchange(failed_, true)) return;
    const Response response = error_response(error, ErrorShape::openai);
    if (!reply_->begun()) return reply_->send(response);
    reply_->write(event_text(std::string_view(response.body).substr(0, response.body.find('\n'))));
    reply_->end();
  }

  // ---- what it looks like

  OrderedJson envelope(bool chunk) const {
    const bool chat = style_ == OpenAiStyle::chat;
    OrderedJson answer = {{"id", id_},
                          {"object", !chat   ? "text_completion"
                                     : chunk ? "chat.completion.chunk"
                                             : "chat.completion"},
                          {"created", created_},
                          {"model", model_.id}};
    if (chat) answer["system_fingerprint"] = nullptr;
    return answer;
  }

  OrderedJson choice(size_t i, const std::string& text, const OrderedJson& reason) {
    OrderedJson answer = {{"index", i}};
    if (style_ == OpenAiStyle::text) {
      answer["text"] = (call_.stream || !call_.echo ? "" : call_.prompts[prompt_of(i)].text) + text;
    } else if (call_.stream) {
      answer["delta"] = text.empty() ? OrderedJson::object() : OrderedJson{{"content", text}};
    } else {
      answer["message"] = {{"role", "assistant"}, {"content", text}, {"refusal", nullptr}};
    }
    const bool tells = call_.logprobs >= 0 && (!call_.stream || reason.is_null());
    answer["logprobs"] = tells ? logprobs_[i].take() : OrderedJson();
    answer["finish_reason"] = reason;
    return answer;
  }

  // Chunks of one answer begin and end alike.
  void send_chunk(const OrderedJson& choice_json) {
    if (chunk_begin_.empty()) {
      chunk_begin_ = dump_json(envelope(true));
      chunk_begin_.replace(chunk_begin_.size() - 1, 1, ",\"choices\":[");
    }
    reply_->write(
        event_text(chunk_begin_ + dump_json(choice_json) + (call_.include_usage ? "],\"usage\":null}" : "]}")));
  }

  void begin_stream() {
    reply_->begin(event_stream_head());
    for (size_t i = 0; i < results_.size(); ++i) {
      if (style_ == OpenAiStyle::chat) {
        OrderedJson first = choice(i, "", nullptr);
        first["delta"] = {{"role", "assistant"}, {"content", ""}};
        first["logprobs"] = nullptr;
        send_chunk(first);
      } else if (call_.echo) {
        send_chunk(choice(i, call_.prompts[prompt_of(i)].text, nullptr));
      }
    }
  }

  void echo(size_t i) {
    if (call_.logprobs < 0) return;
    const size_t prompt = prompt_of(i);
    logprobs_[i].add_echo(call_.prompts[prompt].text, call_.prompts[prompt].ids[0], prompt_scores_[prompt].tokens);
  }

  const ServedModel& model_;
  Metrics* metrics_;
  const OpenAiStyle style_;
  const OpenAiCall call_;
  const std::string id_;
  const int64_t created_ = static_cast<int64_t>(std::time(nullptr));
  const std::shared_ptr<Reply> reply_;
  std::vector<Completion> results_;
  std::vector<TextScore> prompt_scores_;
  std::vector<LogprobList> logprobs_;
  size_t open_;  // texts that are not done
  OpenAiUsage usage_;
  std::string chunk_begin_;
  const Clock::time_point begin_ = Clock::now();
  std::vector<std::optional<Clock::time_point>> last_tokens_;  // when each text's last token came
  bool failed_ = false;
};

}  // namespace

void describe_openai_metrics(Metrics& metrics) {
  const std::vector<double> bounds = {0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10};
  metrics.describe("first_token_seconds", "histogram", "Time from a request to the first token of each text.", bounds);
  metrics.describe("token_seconds", "histogram", "Time from one token of a text to its next.", bounds);
}

void answer_call(const OpenAiContext& context, OpenAiStyle style, OpenAiCall call, const Request& request,
                 std::shared_ptr<Reply> reply) {
  check_call(call, style == OpenAiStyle::chat ? "messages" : "prompt", context.model, context.limits);
  context.model.writer();  // refuses a model that writes nothing
  const bool scores = call.echo && call.logprobs >= 0;
  const auto answer = std::make_shared<CompletionAnswer>(context, style, std::move(call), request.id, std::move(reply));
  if (!scores) return answer->start(context.limits, request.deadline);
  context.compute([answer, limits = context.limits, deadline = request.deadline] {
    answer->score_prompts();
    answer->start(limits, deadline);
  });
}

}  // namespace limpid
