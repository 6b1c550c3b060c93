#pragma once
// OpenAiAnswer: one request for completions on its way through the engine, and the answer that is made of what comes
// back: whole, or as a stream of events.

#include <memory>
#include <mutex>

#include "inference/score.h"
#include "server/openai_call.h"

namespace limpid {

class Metrics;

enum class OpenAiStyle { text, chat };  // /v1/completions, /v1/chat/completions

struct OpenAiContext {
  const ServedModel& model;
  const RequestLimits& limits;
  Metrics* metrics = nullptr;
  std::function<void(std::function<void()> work)> compute = {};
};

// Hands the texts to the model's engine; the reply is given the answer as it comes. A prompt that is echoed with its
// log-probabilities is read first, which takes long: `compute` runs that, and what follows it, on a thread for such
// work. Throws where the request cannot be met; nothing has been sent then.
void answer_call(const OpenAiContext& context, OpenAiStyle style, OpenAiCall call, const Request& request,
                 std::shared_ptr<Reply> reply);

void describe_openai_metrics(Metrics& metrics);

}  // namespace limpid
