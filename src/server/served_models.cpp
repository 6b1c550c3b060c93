#include "server/served_models.h"

#include "base/paths.h"
#include "base/turns.h"
#include "server/http.h"
#include "server/metrics.h"
#include "server/workers.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

// Splits "id=path". A path that holds a "=" itself is taken as it is if it exists.
std::pair<std::string, fs::path> id_and_path(const std::string& text) {
  const size_t sign = text.find('=');
  if (sign != std::string::npos && sign > 0 && !path_exists(text)) return {text.substr(0, sign), text.substr(sign + 1)};
  fs::path path = fs::path(text).lexically_normal();
  if (path.filename().empty()) path = path.parent_path();
  fs::path name = is_folder(path) ? path.filename() : path.stem();
  if (name == "." || name == "..") name = absolute_path(path).filename();
  return {name.string(), text};
}

int64_t changed_at(const fs::path& path) {
  std::error_code error;
  const auto time = fs::last_write_time(path, error);
  if (error) return 0;
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::file_clock::to_sys(time).time_since_epoch())
      .count();
}

}  // namespace

EngineService& ServedModel::writer() const {
  if (!engine)
    throw HttpError(400,
                    fmt::format("The model \"{}\" (of type \"{}\") writes no text: ask it for embeddings.", id,
                                config().model_type),
                    {.param = "model"});
  return *engine;
}

void describe_engine_metrics(Metrics& metrics) {
  metrics.describe("engine_step_seconds", "histogram", "Time of an engine step.",
                   {0.0003, 0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1});
  metrics.describe("engine_batch_texts", "histogram", "Texts in an engine step.",
                   {0, 1, 2, 4, 8, 16, 32, 64, 128, 256});
  metrics.describe("engine_running", "gauge", "Texts that are being written.");
  metrics.describe("engine_waiting", "gauge", "Requests of which nothing is written yet.");
  metrics.describe("engine_memory_bytes", "gauge", "Memory of keys, values and states.");
  metrics.describe("engine_reused_tokens", "gauge", "Prompt tokens that a beginning in common saved from being read.");
}

void describe_token_metrics(Metrics& metrics) {
  metrics.describe("prompt_tokens_total", "counter", "Tokens of prompts, of texts to translate and to embed.");
  metrics.describe("completion_tokens_total", "counter", "Tokens written.");
}

void count_tokens(Metrics* metrics, const ServedModel& model, int64_t read, int64_t written) {
  if (!metrics) return;
  const Labels labels = {{"model", model.id}};
  if (read > 0) metrics->count("prompt_tokens_total", labels, static_cast<double>(read));
  if (written > 0) metrics->count("completion_tokens_total", labels, static_cast<double>(written));
}

const ServedModel& ServedModels::load(const std::string& text, const EngineServiceOptions& options, Metrics* metrics) {
  auto model = std::make_unique<ServedModel>();
  std::tie(model->id, model->path) = id_and_path(text);
  check(!model->id.empty(), "[server] \"{}\" gives a model no name: say ID=PATH", text);
  for (const auto& other : models_)
    check(other->id != model->id, "[server] two models are named \"{}\": say ID=PATH for one of them", model->id);
  model->created = changed_at(model->path);
  model->session = open_session(model->path);
  try {
    model->chat = ChatFormat::open(model->path);
  } catch (const Error& error) {  // texts can be written all the same
    model->chat_error = error.what();
  }
  if (model->config().writes()) {
    EngineServiceOptions own = options;
    const Labels labels = {{"model", model->id}};
    if (metrics)
      own.observe = [metrics, labels](const EngineServiceOptions::Step& step) {
        metrics->observe("engine_step_seconds", labels, step.seconds);
        metrics->observe("engine_batch_texts", labels, static_cast<double>(step.texts));
      };
    model->engine = std::make_unique<EngineService>(model->session.model(), std::move(own));
    if (metrics) {
      const EngineService* engine = model->engine.get();
      const auto gauge = [&](const char* name, auto value) {
        metrics->gauge(name, labels, [engine, value] { return static_cast<double>(value(*engine)); });
      };
      gauge("engine_running", [](const EngineService& service) { return service.running(); });
      gauge("engine_waiting", [](const EngineService& service) { return service.waiting(); });
      gauge("engine_memory_bytes", [](const EngineService& service) { return service.memory().used; });
      gauge("engine_reused_tokens", [](const EngineService& service) { return service.reused_tokens(); });
    }
  }
  model->preparation = std::jthread([&session = model->session] {
    block_signals();
    work_in_background();
    try {
      session.taps();
    } catch (const std::exception&) {  // whoever asks is told
    }
  });
  models_.push_back(std::move(model));
  return *models_.back();
}

const ServedModel& ServedModels::find(std::string_view id) const {
  if (id.empty() && models_.size() == 1) return *models_[0];
  std::string names;
  for (const auto& model : models_) {
    if (model->id == id) return *model;
    names += (names.empty() ? "" : ", ") + model->id;
  }
  if (id.empty()) throw HttpError(400, fmt::format("Name a model: {}.", names), {.param = "model"});
  throw HttpError(404, fmt::format("There is no model \"{}\" here: there is {}.", id, names),
                  {.param = "model", .code = "model_not_found"});
}

}  // namespace limpid
