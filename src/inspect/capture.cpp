#include "inspect/capture.h"

#include <algorithm>
#include <limits>

#include "base/as_errors.h"
#include "inference/decoder_state.h"
#include "inspect/pass.h"

namespace limpid {
namespace {

// The chosen rows of `count`, in their order and each once.
std::vector<int64_t> chosen_rows(const std::vector<int64_t>& positions, int64_t count) {
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < count; ++i)
    if (positions.empty() ||
        std::any_of(positions.begin(), positions.end(), [&](int64_t p) { return (p < 0 ? p + count : p) == i; }))
      rows.push_back(i);
  return rows;
}

struct Lengths {
  int64_t source = 0, input = 0;
  explicit Lengths(const Example& example)
      : source(example.batch.source.sequences.tokens()), input(example.batch.input.sequences.tokens()) {}
};

// Keeps one text's values of one tap until all is read: taps of recurrent layers, and all taps of a text that is read
// token by token, come step by step. The room is kept for the next text.
struct Gathered {
  int64_t cols = 0;                      // pairs: keys
  std::vector<std::vector<real>> heads;  // pairs: of each head; rows: one entry
  real missing = 0;                      // stands for the pair of a query with a key that comes later

  void begin(const TapInfo& tap, const Lengths& lengths) {
    cols = tap.keys ? tap.key_count(lengths.source, lengths.input) : tap.cols;
    missing = tap.name.ends_with("pattern") ? 0 : -std::numeric_limits<real>::infinity();
    heads.resize(tap.keys ? tap.heads : 1);
    for (std::vector<real>& head : heads) head.clear();
  }
};

void gather(const Tap& tap, Gathered& into) {
  for (size_t head = 0; head < into.heads.size(); ++head) {
    const ConstMatrix values = tap.layout.keys ? tap.pairs(0, static_cast<int64_t>(head)) : tap.value.values();
    std::vector<real>& to = into.heads[head];
    if (values.contiguous() && values.cols == into.cols) {
      to.insert(to.end(), values.data, values.data + values.size());
      continue;
    }
    for (int64_t i = 0; i < values.rows; ++i) {
      to.insert(to.end(), values.row(i), values.row(i) + values.cols);
      to.insert(to.end(), static_cast<size_t>(into.cols - values.cols), into.missing);
    }
  }
}

// One token a pass, as when the text is written.
void read_token_by_token(const Model& model, const Batch& batch, Probe& probe) {
  const std::vector<int32_t>& ids = batch.input.ids;
  const auto state = make_decoder_state(model);
  state->watch(&probe);
  state->add(std::vector<std::vector<int32_t>>{batch.source.ids.empty() ? std::vector{ids.front()} : batch.source.ids});
  for (const int32_t id : ids) state->step(std::span(&id, 1));
}

void write(const Gathered& values, const std::vector<int64_t>& positions, int64_t rows, ArrayFile& file, size_t array) {
  const std::vector<int64_t> chosen = chosen_rows(positions, rows);
  for (const std::vector<real>& head : values.heads) {
    if (positions.empty()) {
      file.append(array, std::span<const real>(head));
      continue;
    }
    for (int64_t row : chosen)
      file.append(array, std::span<const real>(head.data() + row * values.cols, static_cast<size_t>(values.cols)));
  }
}

void write_values(const Model& model, const CapturePlan& plan, const Examples& examples,
                  const std::filesystem::path& path, const std::function<void(int64_t texts)>& progress) {
  ArrayFile file(path, plan.arrays, {{"format", "pt"}});
  const size_t texts = plan.taps.size(), input = texts + 1, source = texts + 2;
  int64_t done = 0;
  const Arena arena;
  std::vector<Gathered> values(plan.taps.size());
  FunctionProbe probe;
  for (size_t i = 0; i < plan.taps.size(); ++i)
    probe.on(plan.taps[i].name, [&values, i](const Tap& tap) { gather(tap, values[i]); });
  // The output layer is the dearest product of a small model: it is left out where nobody looks at it.
  const bool output =
      std::any_of(plan.taps.begin(), plan.taps.end(), [](const TapInfo& t) { return t.name == "logits"; });
  examples([&](const Example& example) {
    const Lengths lengths(example);
    for (size_t i = 0; i < values.size(); ++i) values[i].begin(plan.taps[i], lengths);
    Pass pass(example, &probe);
    Run run({.arena = arena, .probe = pass.probe()});
    if (plan.token_by_token)
      read_token_by_token(model, example.batch, *pass.probe());
    else if (output)
      model.logits(run, example.batch, example.choice);
    else
      model.forward(run, example.batch, example.choice);
    for (size_t i = 0; i < plan.taps.size(); ++i)
      write(values[i], plan.positions, plan.taps[i].row_count(lengths.source, lengths.input), file, i);
    const int32_t counts[] = {static_cast<int32_t>(lengths.source), static_cast<int32_t>(lengths.input)};
    file.append(texts, counts);
    file.append(input, std::span<const int32_t>(example.batch.input.ids));
    if (plan.source_tokens > 0) file.append(source, std::span<const int32_t>(example.batch.source.ids));
    if (progress) progress(++done);
  });
  file.finish();
}

}  // namespace

CapturePlan plan_capture(const Model& model, const CaptureOptions& options, const Examples& examples) {
  check(!options.patterns.empty(), "[capture] name the taps to capture: all of them are rarely wanted and large");
  CapturePlan plan{.positions = options.positions, .token_by_token = options.token_by_token};
  const std::vector<TapInfo> known = list_taps(model);
  std::vector<std::string> names;
  for (const std::string& pattern : options.patterns)
    for (const TapInfo& tap : find_taps(known, pattern, model.config())) {
      const bool in_layers =
          options.layers.empty() || std::count(options.layers.begin(), options.layers.end(), layer_of(tap.name));
      if (!in_layers || std::count(names.begin(), names.end(), tap.name)) continue;
      names.push_back(tap.name);
      plan.taps.push_back(tap);
    }
  check(!plan.taps.empty(), "[capture] none of the taps lies in the chosen layers");
  std::vector<int64_t> rows(plan.taps.size()), numbers(plan.taps.size()), keys(plan.taps.size());
  examples([&](const Example& example) {
    const Lengths lengths(example);
    ++plan.texts;
    plan.source_tokens += lengths.source;
    plan.input_tokens += lengths.input;
    for (size_t i = 0; i < plan.taps.size(); ++i) {
      const TapInfo& tap = plan.taps[i];
      const auto chosen =
          static_cast<int64_t>(chosen_rows(options.positions, tap.row_count(lengths.source, lengths.input)).size());
      keys[i] = tap.key_count(lengths.source, lengths.input);
      rows[i] += chosen;
      numbers[i] += tap.keys ? tap.heads * chosen * keys[i] : chosen * tap.cols;
    }
  });
  check(plan.texts > 0, "[capture] there is no text: give one, or a file of lines");
  for (size_t i = 0; i < plan.taps.size(); ++i) {
    const TapInfo& tap = plan.taps[i];
    std::vector<int64_t> shape = {rows[i], tap.cols};
    if (tap.keys)
      shape = plan.texts == 1 ? std::vector<int64_t>{tap.heads, rows[i], keys[i]} : std::vector<int64_t>{numbers[i]};
    plan.arrays.push_back({tap.name, shape});
  }
  plan.arrays.push_back({"texts", {plan.texts, 2}, ArrayType::i32});
  plan.arrays.push_back({"input_ids", {plan.input_tokens}, ArrayType::i32});
  if (plan.source_tokens > 0) plan.arrays.push_back({"source_ids", {plan.source_tokens}, ArrayType::i32});
  for (const ArrayShape& array : plan.arrays) plan.bytes += 4 * array.numbers();
  return plan;
}

void capture(const Model& model, const CapturePlan& plan, const Examples& examples, const std::filesystem::path& path,
             const std::function<void(int64_t texts)>& progress) {
  as_errors([&] { write_values(model, plan, examples, path, progress); });
}

}  // namespace limpid
