// limpid quantize: a smaller, faster copy of a model, and what it costs in quality.

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "app/command.h"
#include "app/output_place.h"
#include "app/stored_weights.h"
#include "base/file.h"
#include "base/folder_aside.h"
#include "base/json.h"
#include "formats/gguf_export.h"
#include "formats/quantize.h"
#include "formats/quantize_mix.h"
#include "formats/quantized_folder.h"
#include "inference/generate.h"
#include "inference/gguf_pooling.h"
#include "inference/model_comparison.h"
#include "inference/model_text.h"
#include "scoring/bleu.h"
#include "text/word_tokenizer.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct QuantizeCommand {
  std::string model, out, format = "auto", text, type;
  int bits = 8, output_bits = 0;
  int64_t beam = 4;
  bool force = false, json = false;
};

bool translates(const Config& config) { return config.has_source(); }

// "gguf" or "safetensors": what was asked for, else GGUF where it can hold the model.
std::string chosen_format(const QuantizeCommand& command, const LoadedModel& loaded) {
  if (command.format != "auto") return command.format;
  if (fs::path(command.out).extension() == ".gguf") return "gguf";
  return why_no_gguf(loaded.config(), loaded.tokenizers).empty() ? "gguf" : "safetensors";
}

GgufOptions gguf_options(const QuantizeCommand& command, const LoadedModel& loaded) {
  return {.name = fs::path(command.model).stem().string(),
          .type = command.type,
          .pooling = loaded.config().writes() ? 0 : gguf_pooling(loaded.sentence.embedding)};
}

void write(const QuantizeCommand& command, LoadedModel& loaded, const std::string& format) {
  const bool gguf = format == "gguf";
  const fs::path from = command.model, out = command.out;
  check(gguf || fs::is_directory(from), "[quantize] {} is a file: a folder is made of a folder; take --format gguf",
        command.model);
  check(gguf || command.bits <= 8 || !command.type.empty(),
        "[quantize] a folder of {} bits: --bits 16 and 32 are for --format gguf", command.bits);
  check_output_place({.command = "quantize", .from = from, .out = out, .folder = !gguf, .force = command.force});
  const QuantizeOptions options{
      .bits = command.bits, .output_bits = command.output_bits, .mix = command.type, .for_gguf = gguf};
  QuantizedModel quantized = quantize(*loaded.model, options);
  if (gguf) return write_gguf(out, *quantized.model, loaded.tokenizers, gguf_options(command, loaded));
  FolderAside aside(out);
  write_quantized_folder(aside.path(), *quantized.model, options);
  copy_companions(from, aside.path());
  aside.put_in_place();
}

struct TextPairs {
  std::vector<Batch> batches;
  std::vector<std::vector<int32_t>> sources;  // of translators
  std::vector<std::string> references;
  bool words = false;  // the text comes cut into words, subwords joined by "@@ "
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

TextPairs read_pairs(const LoadedModel& loaded, const std::string& text) {
  constexpr size_t kAtOnce = 64;  // sentences
  TextPairs pairs;
  pairs.words = dynamic_cast<const WordTokenizer*>(loaded.tokenizers.target.get()) != nullptr;
  std::vector<std::vector<int32_t>> targets;
  for (const std::string& line : lines_of(text)) {
    const size_t tab = line.find('\t');
    check(tab != std::string::npos,
          "[quantize] the text has a line without a tab: this model translates; write source, tab and target");
    pairs.sources.push_back(input_ids(loaded, line.substr(0, tab)));
    targets.push_back(target_ids(loaded, line.substr(tab + 1)));
    pairs.references.push_back(line.substr(tab + 1));
    if (pairs.words) pairs.references.back() = join_subwords(std::move(pairs.references.back()));
  }
  const auto start = static_cast<int32_t>(loaded.config().decoder_start_token.value_or(0));
  for (size_t i = 0; i < targets.size(); i += kAtOnce) {
    const auto end = static_cast<ptrdiff_t>(std::min(i + kAtOnce, targets.size()));
    const auto begin = static_cast<ptrdiff_t>(i);
    pairs.batches.push_back(Batch::pairs({pairs.sources.begin() + begin, pairs.sources.begin() + end},
                                         {targets.begin() + begin, targets.begin() + end}, start));
  }
  return pairs;
}

// One text, in windows that the model can read.
TextPairs read_windows(const LoadedModel& loaded, const std::string& text) {
  const bool encoder = !loaded.config().writes();
  const std::vector<int32_t> ids = input_ids(loaded, text);
  const int64_t most = loaded.config().max_positions > 0 ? loaded.config().max_positions : 512;
  const auto window = static_cast<size_t>(std::min<int64_t>(512, most));
  TextPairs windows;
  for (size_t begin = 0; begin + 1 < ids.size(); begin += window) {
    const size_t end = std::min(begin + window + (encoder ? 0 : 1), ids.size());
    const std::vector<int32_t> part(ids.begin() + static_cast<ptrdiff_t>(begin),
                                    ids.begin() + static_cast<ptrdiff_t>(end));
    if (part.size() < 2) break;
    windows.batches.push_back(encoder ? Batch::masked({part}, {part}) : Batch::next_tokens({part}));
  }
  return windows;
}

double bleu_of(const LoadedModel& loaded, const TextPairs& pairs, int64_t beam) {
  std::vector<std::string> lines;
  for (const auto& hypotheses : translate(*loaded.model, pairs.sources, {.beam = beam, .scores = false}))
    lines.push_back(loaded.writer().decode(hypotheses.at(0).ids));
  return bleu(lines, pairs.references, {.tokenizer = pairs.words ? BleuTokenizer::none : BleuTokenizer::t13a}).score;
}

Json quality(const QuantizeCommand& command, const LoadedModel& before, const LoadedModel& after) {
  check(before.tokenizers.source != nullptr, "[quantize] the model has no tokenizer: --text needs one");
  check(before.config().labels.empty(), "[quantize] a model that classifies is not compared on --text yet");
  const std::string text = read_text(command.text);
  const bool pairs = translates(before.config());
  const TextPairs texts = pairs ? read_pairs(before, text) : read_windows(before, text);
  check(!texts.batches.empty(), "[quantize] {} has too little text", command.text);
  const ModelComparison compared = compare_models(*before.model, *after.model, texts.batches);
  Json json = {
      {"tokens", compared.tokens}, {"kl_divergence", compared.divergence}, {"same_likeliest", compared.agreement}};
  if (before.config().writes()) {
    json["perplexity_before"] = compared.reference_perplexity();
    json["perplexity_after"] = compared.perplexity();
  }
  if (pairs) {
    json["bleu_before"] = bleu_of(before, texts, command.beam);
    json["bleu_after"] = bleu_of(after, texts, command.beam);
  }
  return json;
}

void print_quality(const Json& q) {
  fmt::print("{} tokens: KL divergence {:.5f} nats per token, the same likeliest token in {:.2f} %\n",
             q["tokens"].get<int64_t>(), q["kl_divergence"].get<double>(), 100 * q["same_likeliest"].get<double>());
  if (q.contains("perplexity_before"))
    fmt::print("perplexity {:.4f}, was {:.4f}\n", q["perplexity_after"].get<double>(),
               q["perplexity_before"].get<double>());
  if (q.contains("bleu_before"))
    fmt::print("BLEU {:.2f}, was {:.2f}\n", q["bleu_after"].get<double>(), q["bleu_before"].get<double>());
}

}  // namespace

int run_quantize(int argc, char** argv) {
  CommandLine line("quantize",
                   "Writes a model with weights of 2 to 8 bits: smaller, faster, and said how much worse when given "
                   "text.",
                   "limpid quantize MODEL model.gguf --type Q4_K_M --text held-out.txt");
  QuantizeCommand command;
  line.add_option("MODEL", command.model, "a folder or file that holds a model")->required();
  line.add_option("OUT,--out", command.out, "the GGUF file or the folder to write")->required();
  line.add_option("--bits", command.bits, "of a weight: 8, 4; GGUF also 16 and 32")
      ->check(CLI::IsMember({4, 8, 16, 32}))
      ->capture_default_str();
  line.add_option("--type", command.type, "instead of --bits: llama.cpp's mix of types, such as Q4_K_M, Q6_K or Q5_0")
      ->check(CLI::IsMember(quantize_mixes()));
  line.add_option("--output-bits", command.output_bits,
                  "of the matrix that scores words, an embedding that serves as it too (default: 8 with --bits 4)")
      ->check(CLI::IsMember({4, 8, 16, 32}));
  line.add_option("--format", command.format, "gguf, safetensors (a folder), or auto: gguf where it can hold the model")
      ->check(CLI::IsMember({"auto", "gguf", "safetensors"}))
      ->capture_default_str();
  line.add_option("--text", command.text,
                  "measure the loss of quality on this file (translators: source, tab, target)");
  line.add_option("--beam", command.beam, "width of the beam for BLEU")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  line.add_flag("--force", command.force, "replace the model that OUT is");
  line.add_flag("--json", command.json, "print JSON, one object per line");
  if (const auto code = line.read(argc, argv)) return *code;

  LoadedModel before = load_model(command.model, {.need_tokenizers = false});
  const std::string format = chosen_format(command, before);
  write(command, before, format);
  const LoadedModel after = load_model(command.out, {.need_tokenizers = false});
  Json report = {{"format", format},
                 {"bytes_before", weight_bytes(command.model)},
                 {"bytes_after", weight_bytes(command.out)},
                 {"numbers", stored_types(*after.model)}};
  if (!command.text.empty()) report["quality"] = quality(command, before, after);
  if (command.json) {
    fmt::print("{}\n", report.dump());
    return 0;
  }
  fmt::print("{} ({}, was {})\n", command.out, bytes_text(report["bytes_after"].get<uint64_t>()),
             bytes_text(report["bytes_before"].get<uint64_t>()));
  for (const auto& [type, count] : stored_types(*after.model)) fmt::print("  {:5} {} numbers\n", type, count);
  if (report.contains("quality")) print_quality(report["quality"]);
  return 0;
}

}  // namespace limpid
