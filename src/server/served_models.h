#pragma once
// The models that a server has loaded, by id. Loaded once, before the server is ready; after that nothing of them
// changes, and any thread may use them.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "inference/chat_format.h"
#include "inspect/session.h"
#include "server/engine_service.h"
#include "server/inspect_memory.h"

namespace limpid {

class Metrics;

struct ServedModel {
  std::string id;
  std::filesystem::path path;             // as the server was told
  int64_t created = 0;                    // seconds since 1970, of its files
  Session session;                        // model and tokenizers
  std::optional<ChatFormat> chat;         // none: it was not made for conversations, or
  std::string chat_error;                 // what is wrong with its template
  std::unique_ptr<EngineService> engine;  // null: the model does not write (encoders)
  std::unique_ptr<InspectMemory> inspected = std::make_unique<InspectMemory>();  // of questions about its inside
  std::jthread preparation;  // lays out the weights and lists the taps, so that nobody's first question waits for it

  const LoadedModel& loaded() const { return session.loaded; }
  const Config& config() const { return session.config(); }
  EngineService& writer() const;  // throws HttpError 400 where there is none
};

class ServedModels {
 public:
  // "ID=PATH", or a path whose last part becomes the id. Throws for two of the same id.
  const ServedModel& load(const std::string& text, const EngineServiceOptions& options, Metrics* metrics = nullptr);
  // The model of this id; with an empty one the only model. Throws HttpError: 404 for an unknown id, 400 where there
  // are several and none is named.
  const ServedModel& find(std::string_view id) const;
  const std::vector<std::unique_ptr<ServedModel>>& all() const { return models_; }

 private:
  std::vector<std::unique_ptr<ServedModel>> models_;
};

// What steps and memory of engines are counted under.
void describe_engine_metrics(Metrics& metrics);
// What tokens are counted under, and their counting: of what was read for a request, and of what was written.
void describe_token_metrics(Metrics& metrics);
void count_tokens(Metrics* metrics, const ServedModel& model, int64_t read, int64_t written);

}  // namespace limpid
