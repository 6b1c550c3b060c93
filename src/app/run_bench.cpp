#include "app/run_bench.h"

#include <sstream>
#include <vector>

#include "app/measuring.h"
#include "app/peak_memory.h"
#include "base/file.h"
#include "base/parallel.h"
#include "base/random.h"
#include "inference/decoder_state.h"
#include "inference/embedding.h"
#include "inference/generate.h"
#include "inference/loaded_model.h"
#include "inference/top_tokens.h"
#include "kernels/instruction_set.h"

namespace limpid {
namespace {

std::vector<int32_t> random_ids(int64_t count, int64_t vocab, uint64_t seed) {
  Random random(seed);
  std::vector<int32_t> ids(count);
  const int64_t first = vocab > 16 ? 3 : 0;  // small ids are special tokens
  for (int32_t& id : ids) id = static_cast<int32_t>(first + random.below(vocab - first));
  return ids;
}

// Bytes of weights that one decoding step reads: all of them, but of a table of embeddings that is not the output
// layer's only a row.
int64_t bytes_of_step(const Model& model) {
  int64_t bytes = 0;
  model.each_parameter([&](const Weight& weight) {
    const bool looked_up = (weight.role == ParameterRole::embedding && !model.config().tie_output) ||
                           weight.role == ParameterRole::position;
    if (!looked_up) bytes += bytes_of(weight.type, weight.size());
  });
  return bytes;
}

// What all threads read together in a second, over so many bytes, in 10⁹ bytes.
double bandwidth_gb(int64_t bytes) {
  const int64_t count = bytes / static_cast<int64_t>(sizeof(real)), grain = 1 << 16;
  const std::vector<real> numbers(count, 1);
  const double seconds = best_seconds(5, [&] {
    parallel_ranges(count, grain, [&](int64_t begin, int64_t end) {
      volatile real kept = kernels::read_numbers(numbers.data() + begin, end - begin);
      (void)kept;
    });
  });
  return static_cast<double>(count * static_cast<int64_t>(sizeof(real))) / seconds / 1e9;
}

std::vector<std::vector<int32_t>> read_ids(const std::string& path, int64_t vocab) {
  std::vector<std::vector<int32_t>> texts;
  std::istringstream lines(read_text(path));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<int32_t> ids;
    for (int64_t id = 0; words >> id;) {
      check(id >= 0 && id < vocab, "[bench] {}: line {} has the id {}, the model {} tokens", path, texts.size() + 1, id,
            vocab);
      ids.push_back(static_cast<int32_t>(id));
    }
    check(words.eof() && !ids.empty(), "[bench] {}: line {} is no list of ids: limpid tokenize --ids makes them", path,
          texts.size() + 1);
    texts.push_back(std::move(ids));
  }
  check(!texts.empty(), "[bench] {}: holds no ids", path);
  return texts;
}

nlohmann::ordered_json about(const std::string& bench, const std::string& model) {
  return {{"bench", bench}, {"model", model}, {"threads", threads()}, {"instructions", kernels::instruction_set()}};
}

}  // namespace

nlohmann::ordered_json bench_decode(const DecodeBench& options) {
  const LoadedModel loaded = load_model(options.model, {.need_tokenizers = false});
  const int64_t vocab = loaded.config().vocab;
  const double seconds = best_seconds(options.rounds, [&] {
    const auto state = make_decoder_state(*loaded.model);
    std::vector<std::vector<int32_t>> texts;
    for (int64_t i = 0; i < options.sequences; ++i) texts.push_back(random_ids(1, vocab, i));
    std::vector<int32_t> ids = state->add(texts);
    for (int64_t step = 0; step < options.tokens; ++step) {
      const TopTokens top = top_tokens(state->step(ids).values(), {});
      for (int64_t i = 0; i < options.sequences; ++i) ids[i] = top.row(i).front().id;
    }
  });
  nlohmann::ordered_json result = about("decode", options.model);
  const double steps_per_second = static_cast<double>(options.tokens) / seconds;
  result["sequences"] = options.sequences;
  result["tokens_per_second"] = rounded(steps_per_second * static_cast<double>(options.sequences), 10);
  const int64_t bytes = bytes_of_step(*loaded.model);
  result["weight_mb"] = rounded(static_cast<double>(bytes) / 1e6, 10);
  if (options.sequences == 1) {
    const double bandwidth = bandwidth_gb(bytes);
    result["bandwidth_gb"] = rounded(bandwidth, 10);
    result["of_bandwidth"] = rounded(static_cast<double>(bytes) * steps_per_second / 1e9 / bandwidth, 1000);
  }
  result["rss_mb"] = std::round(peak_memory_mb());
  return result;
}

nlohmann::ordered_json bench_prefill(const PrefillBench& options) {
  const LoadedModel loaded = load_model(options.model, {.need_tokenizers = false});
  const std::vector<std::vector<int32_t>> prompt = {random_ids(options.tokens, loaded.config().vocab, 1)};
  const auto state = make_decoder_state(*loaded.model);
  const double seconds = best_seconds(options.rounds, [&] {
    const std::vector<int32_t> last = state->add(prompt);
    state->step(last);
    state->reorder({});
  });
  nlohmann::ordered_json result = about("prefill", options.model);
  result["tokens"] = options.tokens;
  result["tokens_per_second"] = rounded(static_cast<double>(options.tokens) / seconds, 10);
  result["rss_mb"] = std::round(peak_memory_mb());
  return result;
}

nlohmann::ordered_json bench_translate(const TranslateBench& options) {
  const LoadedModel loaded = load_model(options.model, {.need_tokenizers = false});
  std::vector<std::vector<int32_t>> sources;
  for (int64_t i = 0; i < options.sentences; ++i)
    sources.push_back(random_ids(options.tokens, loaded.config().vocab, i));
  const GenerateOptions generate{.beam = options.beam,
                                 .max_tokens = options.tokens,
                                 .max_batch = options.batch,
                                 .scores = false,
                                 .rules = {.least_tokens = options.tokens}};
  const double seconds = best_seconds(options.rounds, [&] {
    if (options.batch > 1) {
      translate(*loaded.model, sources, generate);
    } else {
      for (const auto& source : sources) translate(*loaded.model, {&source, 1}, generate);  // each as soon as can be
    }
  });
  nlohmann::ordered_json result = about("translate", options.model);
  result["sentences"] = options.sentences;
  result["batch"] = options.batch;
  result["beam"] = options.beam;
  result["tokens_per_second"] = rounded(static_cast<double>(options.sentences * options.tokens) / seconds, 10);
  result["rss_mb"] = std::round(peak_memory_mb());
  return result;
}

nlohmann::ordered_json bench_embed(const EmbedBench& options) {
  const LoadedModel loaded = load_model(options.model, {.need_tokenizers = false});
  const int64_t vocab = loaded.config().vocab;
  std::vector<std::vector<int32_t>> texts;
  if (!options.ids.empty()) texts = read_ids(options.ids, vocab);
  for (int64_t i = 0; options.ids.empty() && i < options.texts; ++i)
    texts.push_back(random_ids(options.tokens, vocab, i));
  int64_t tokens = 0;
  for (const auto& text : texts) tokens += std::ssize(text);
  const auto count = std::ssize(texts);
  const double seconds = best_seconds(options.rounds, [&] {
    for (int64_t first = 0; first < count; first += options.batch)
      embed(*loaded.model, std::span(texts).subspan(first, std::min(options.batch, count - first)));
  });
  nlohmann::ordered_json result = about("embed", options.model);
  result["texts"] = count;
  result["batch"] = options.batch;
  result["tokens"] = tokens;
  result["texts_per_second"] = rounded(static_cast<double>(count) / seconds, 10);
  result["tokens_per_second"] = rounded(static_cast<double>(tokens) / seconds, 10);
  result["rss_mb"] = std::round(peak_memory_mb());
  return result;
}

}  // namespace limpid
