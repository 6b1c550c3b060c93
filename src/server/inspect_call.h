#pragma once
// One request to look inside a model: its fields, its text made ready, its interventions, and the command that gives
// the same numbers. Everything belongs to the request; the model that is served never changes.

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/cancellation.h"
#include "inspect/array_file.h"
#include "inspect/intervention.h"
#include "inspect/tap_rows.h"
#include "server/inspect_memory.h"
#include "server/json_fields.h"

namespace limpid {

// The model that a request is about.
struct InspectedModel {
  const Session& session;
  std::string id;
  std::string path;                 // as people name it on the command line
  InspectMemory* memory = nullptr;  // null: every request begins anew
};

struct InspectLimits {
  int64_t bytes = 64 << 20;        // of the numbers in one answer
  int64_t pass_bytes = 1ll << 30;  // of what a pass keeps for one answer
  int64_t texts = 1000;            // in one request
};

// A word, quoted for a shell where that is needed.
std::string shell_quoted(const std::string& word);

class InspectCall {
 public:
  // A JSON object, or the bytes of a safetensors file with the metadata "limpid", a JSON object as text.
  struct Answer {
    std::string body;
    bool tensors = false;
  };

  InspectCall(const InspectedModel& model, const nlohmann::json& request, const InspectLimits& limits = {});
  InspectCall(const InspectCall&) = delete;
  InspectCall& operator=(const InspectCall&) = delete;
  ~InspectCall();

  JsonFields fields;
  const InspectedModel& served;
  const InspectLimits limits;
  // Told how far long work is, 0 … 1, and what happens on the way.
  std::function<void(double done)> progress = [](double) { check_cancelled(); };
  std::function<void(const char* event, const nlohmann::ordered_json& data)> event = {};  // empty: not a stream

  // The model with the request's weight edits.
  const Session& session();
  const Model& model() { return session().model(); }
  const Config& config() const { return served.session.config(); }
  // What was there before the interventions.
  const Session& unchanged() const { return served.session; }
  const InterventionList& interventions() const { return list_; }

  // The request's text, with its interventions in force.
  const Example& example();
  Example example_without_interventions();
  bool written_by_model() { return text().written_by_model; }
  const std::vector<int32_t>& target_ids() { return text().target_ids; }  // without start; ends with the end token
  const std::vector<HeadScore>& induction();  // of every head, on a random sequence repeated
  // A text of the request's, as the model reads it, with the interventions that hold everywhere.
  Example changed(Example example);
  bool has_text() const { return fields.has("text") || fields.has("ids"); }

  std::string side();                      // "", "encoder" or "decoder"
  int32_t token(const std::string& name);  // -1: not given

  // Before anything is computed: an answer of tensors is refused where events are wanted, and where so many bytes are
  // over the limit.
  void check_tensors(int64_t bytes);
  // The values of these taps in a pass over the request's text; refused where they would take too much memory.
  std::map<std::string, TapValues> values(const std::vector<TapInfo>& taps);
  void check_pass(const std::vector<TapInfo>& taps);

  // The answer, with the command that gives the same. `part` and what follows it: "lens", {"--top", "3"}; the text is
  // put behind the part.
  Answer json(nlohmann::ordered_json result, const std::string& part, std::vector<std::string> options = {});
  Answer tensors(const ArrayBytes& arrays, nlohmann::ordered_json metadata, const std::string& part,
                 std::vector<std::string> options = {});

 private:
  void read_interventions();
  ReadText read_text();
  const ReadText& text();
  const ChangedText& changed_text();
  std::string text_key();
  std::shared_ptr<const Session> edited_session() const;
  void describe(nlohmann::ordered_json& into, const std::string& part, const std::vector<std::string>& options);

  InterventionList list_;
  std::string toml_;
  InspectMemory own_;  // where the server keeps none
  InspectMemory& memory_;
  std::shared_ptr<const ReadText> text_;        // once asked for
  std::shared_ptr<const ChangedText> changed_;  // likewise
  std::shared_ptr<const Session> edited_;       // likewise; null where no weight is changed
};

std::vector<std::string> names_of(const std::vector<TapInfo>& taps);
// That a tap shows of a text.
int64_t numbers_of(const TapInfo& tap, const Example& example);
// What stands at the rows (or keys) of a tap.
std::vector<std::string> tokens_of(TapAxis axis, const Example& example);

// JSON as an answer carries it: bytes that are no text are replaced.
std::string dumped(const nlohmann::ordered_json& json);

// Interventions as a request has them: a list of objects, or the same as TOML. As TOML.
std::string interventions_toml(const nlohmann::json& given);

}  // namespace limpid
