#pragma once
// A session around a small model that was saved and loaded again, in float or quantised, for tests.

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

}  // namespace limpid
