#pragma once
// A session around a small model that was saved and loaded again, in float or quantised, for tests.

#include <memory>

#include "base/temporary_folder.h"
#include "formats/model_folder.h"
#include "formats/quantize.h"
#include "formats/quantized_folder.h"
#include "inspect/small_session.h"

namespace limpid {

enum class Saved { floats, quantized };

class SavedSession {
 public:
  SavedSession(const std::string& name, Saved saved) {
    nlohmann::ordered_json config = small_configs().at(name);
    if (config["model_type"] == "rnn_seq2seq") config["eos_token_id"] = 2;  // its targets are texts, which end
    const SmallModel small = small_model(config);
    if (saved == Saved::floats) {
      write_model(folder_.path(), small.model->config(), *small.parameters);
    } else {
      const QuantizedModel quantized = quantize(*small.model, {.bits = 8});
      write_quantized_folder(folder_.path(), *quantized.model, {.bits = 8});
    }
    session.loaded = load_model(folder_.path(), {.need_tokenizers = false});
    session.loaded.tokenizers.source = session.loaded.tokenizers.target = std::make_shared<LetterTokenizer>();
  }

  Text text() const { return {"ejcrg", session.two_sided() ? "fdkb" : ""}; }
  Example example() const { return session.example(text()); }

 private:
  TemporaryFolder folder_;  // outlives the session, whose weights lie in it

 public:
  Session session;
};

// By name: "gpt2" as it was made, "gpt2_loaded" saved and loaded again, "gpt2_8bit" saved with 8 bits and loaded.
struct AnySession : SmallSession {
  explicit AnySession(const std::string& name) : SmallSession(name.substr(0, suffix_of(name))) {
    const std::string suffix = name.substr(suffix_of(name));
    if (suffix.empty()) return;
    saved_ = std::make_unique<SavedSession>(name.substr(0, suffix_of(name)),
                                            suffix == "_8bit" ? Saved::quantized : Saved::floats);
    session = std::move(saved_->session);
  }

 private:
  static size_t suffix_of(const std::string& name) {
    for (const char* suffix : {"_loaded", "_8bit"})
      if (name.ends_with(suffix)) return name.rfind(suffix);
    return name.size();
  }

  std::unique_ptr<SavedSession> saved_;  // keeps the files
};

// Names with others of the same models behind them.
inline std::vector<std::string> and_stored(std::vector<std::string> names, const std::vector<std::string>& models,
                                           const std::vector<std::string>& suffixes) {
  for (const std::string& model : models)
    for (const std::string& suffix : suffixes) names.push_back(model + suffix);
  return names;
}

}  // namespace limpid
