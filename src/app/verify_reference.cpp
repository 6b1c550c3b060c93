#include "app/verify_reference.h"

#include <cstring>
#include <map>

#include "formats/model_folder.h"
#include "models/encoder.h"
#include "models/language_model.h"
#include "models/seq2seq.h"

namespace limpid {
namespace {

using Values = std::vector<real>;

Values numbers_of(const Tensor& x) {
  Values numbers;
  for (int64_t i = 0; i < x.rows(); ++i) numbers.insert(numbers.end(), x.values().row(i), x.values().row(i) + x.cols());
  return numbers;
}

// Compares one text's values with those of the case.
class Comparison {
 public:
  Comparison(const SafetensorsFile& expected, CaseReport& report, int64_t text)
      : expected_(expected), report_(report), text_(text) {}

  std::vector<int32_t> ids(const std::string& name) const {
    const SafetensorsEntry* entry = expected_.find(full(name));
    check(entry && entry->type_name == "I64", "[verify] {}: no ids \"{}\"", expected_.path(),
          [&] { return full(name); });
    std::vector<int64_t> wide(entry->bytes.size() / sizeof(int64_t));
    std::memcpy(wide.data(), entry->bytes.data(), entry->bytes.size());
    return {wide.begin(), wide.end()};
  }
  bool has(const std::string& name) const { return expected_.find(full(name)) != nullptr; }
  void logits(const Tensor& got) { compare("logits", numbers_of(got), report_.logits); }
  void value(const std::string& name, const Values& got) { compare(name, got, report_.activations); }
  void value(const std::string& name, const Tensor& got) { value(name, numbers_of(got)); }

  // What enters the first of so many layers, and what leaves each; the last one behind the last norm.
  void states(const std::string& name, const std::string& scope, int64_t layers,
              const std::map<std::string, Values>& taps, const Tensor& last, bool normed_last) {
    value(fmt::format("{}.{}", name, 0), name, taps.at(scope + ".0.resid_pre"));
    for (int64_t i = 0; i < layers; ++i) {
      const bool finished = i + 1 == layers && normed_last;
      value(fmt::format("{}.{}", name, i + 1), name,
            finished ? numbers_of(last) : taps.at(fmt::format("{}.{}.resid_post", scope, i)));
    }
  }

 private:
  // The number of the text stands behind the first word of a name: logits.0, hidden_states.0.2.
  std::string full(const std::string& name) const {
    const size_t dot = name.find('.');
    const std::string rest = dot == std::string::npos ? "" : name.substr(dot);
    return fmt::format("{}.{}{}", name.substr(0, dot), text_, rest);
  }
  void value(const std::string& name, const std::string&, const Values& got) { value(name, got); }
  void compare(const std::string& name, const Values& got, LargestError& error) const {
    const SafetensorsEntry* entry = expected_.find(full(name));
    if (!entry) return;
    Values wanted(entry->count());
    read_reals(*entry, wanted.data());
    error.note(largest_difference(got, wanted), full(name));
  }

  const SafetensorsFile& expected_;
  CaseReport& report_;
  int64_t text_;
};

struct Watched {
  FunctionProbe probe;
  std::map<std::string, Values> taps;

  Watched() {
    for (const char* pattern : {"*.resid_pre", "*.resid_post"})
      probe.on(pattern, [this](const Tap& tap) { taps[tap.name] = numbers_of(tap.value); });
  }
};

void verify_one_stack(const Model& model, Comparison comparison) {
  const Config& config = model.config();
  const Tokens tokens = Tokens::of({comparison.ids("ids")});
  Watched watched;
  Run run({.probe = &watched.probe});
  const auto* encoder = dynamic_cast<const Encoder*>(&model);
  Batch batch;
  batch.input = tokens;
  const Tensor last = encoder ? encoder->encode(run, tokens) : model.forward(run, batch, TokenChoice::all());
  comparison.value("hidden", last);
  // ModernBERT's last norm is among its hidden states from release 5 of transformers on.
  const bool normed = config.model_type != "modernbert" || config.json.value("transformers_version", "4") >= "5";
  comparison.states("hidden_states", "blocks", config.stack().layers, watched.taps, last, normed);
  Run plain({});
  if (comparison.has("pooled")) {
    const int32_t first[] = {0};
    comparison.value("pooled", encoder->pool(plain, select_rows(plain, last, first), Sequences({1})));
  }
  if (!comparison.has("logits")) return;
  const TokenChoice choice = config.classifies() ? TokenChoice::first_of_each(tokens.sequences) : TokenChoice::all();
  comparison.logits(model.logits(plain, batch, choice));
}

void verify_two_stacks(const Seq2Seq& model, Comparison comparison) {
  const Tokens source = Tokens::of({comparison.ids("source")}), target = Tokens::of({comparison.ids("target")});
  Watched watched;
  Run run({.probe = &watched.probe});
  const Tensor memory = model.encode(run, source);
  const Tensor last = model.decode(run, target, memory, source.sequences);
  comparison.value("encoder", memory);
  comparison.states("encoder_hidden_states", "encoder", model.config().encoder.layers, watched.taps, memory, true);
  comparison.states("decoder_hidden_states", "decoder", model.config().decoder.layers, watched.taps, last, true);
  comparison.logits(model.output().logits(run, last, target.sequences));
}

}  // namespace

bool is_reference_case(const std::filesystem::path& folder) {
  return std::filesystem::exists(folder / "case.safetensors");
}

CaseReport verify_reference(const std::filesystem::path& folder) {
  const SafetensorsFile expected(folder / "case.safetensors");
  const auto model = make_model(read_model_config(folder));
  const MappedWeights weights(folder, *model);
  CaseReport report{.name = case_name(folder), .tolerances = {.values = kReferenceTolerance}, .values_only = true};
  model->visit_parameters([&](const Weight& weight) { report.parameters += weight.size(); });
  const auto* seq2seq = dynamic_cast<const Seq2Seq*>(model.get());
  const std::string ids = seq2seq ? "source" : "ids";
  for (int64_t i = 0; expected.find(fmt::format("{}.{}", ids, i)); ++i)
    seq2seq ? verify_two_stacks(*seq2seq, {expected, report, i}) : verify_one_stack(*model, {expected, report, i});
  return report;
}

}  // namespace limpid
