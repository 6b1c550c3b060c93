// limpid bench: speed and memory, one JSON line a measurement.

#include <fmt/format.h>

#include "app/allreduce_bench.h"
#include "app/capture_bench.h"
#include "app/command.h"
#include "app/data_parallel_bench.h"
#include "app/run_bench.h"
#include "app/serve_bench.h"
#include "app/train_step_bench.h"

namespace limpid {

int run_bench(int argc, char** argv) {
  CommandLine line("bench", "Measures this machine and this build; prints one JSON line.",
                   "limpid bench train-step --shape tiny");
  line.require_subcommand(1);
  TrainStepOptions train_step;
  DecodeBench decode;
  PrefillBench prefill;
  CaptureBench capture;
  TranslateBench translate;
  EmbedBench embed;
  AllreduceBench allreduce;
  DataParallelBench data_parallel;
  ServeBench serve;
  EngineBench engine;
  bool no_dropout = false, json = true;
  auto add = [&](const char* name, const char* summary, int& rounds) {
    CLI::App* bench = line.add_subcommand(name, summary);
    bench->add_option("--steps,--rounds", rounds, "to take the best of")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    bench->add_flag("--json", json, "one JSON line: it always is");
    bench->fallthrough();
    return bench;
  };
  auto* train_step_line = add("train-step", "one optimiser step: forward, backward, Adam", train_step.steps);
  train_step_line
      ->add_option("--shape", train_step.shape, "tiny, base (encoder-decoders), char, gpt2 (language models)")
      ->check(CLI::IsMember(train_step_shapes()))
      ->capture_default_str();
  train_step_line->add_flag("--no-dropout", no_dropout, "without dropout");
  const CLI::Range at_least_one(1, 1 << 20);
  auto* decode_line = add("decode", "writing token by token", decode.rounds);
  decode_line->add_option("MODEL", decode.model, "a folder or file; limpid random makes one")->required();
  decode_line->add_option("--tokens", decode.tokens, "written per sequence")
      ->check(at_least_one)
      ->capture_default_str();
  decode_line->add_option("--sequences", decode.sequences, "texts at once")->check(at_least_one)->capture_default_str();
  auto* prefill_line = add("prefill", "reading a prompt", prefill.rounds);
  prefill_line->add_option("MODEL", prefill.model, "a folder or file; limpid random makes one")->required();
  prefill_line->add_option("--tokens", prefill.tokens, "of the prompt")->check(at_least_one)->capture_default_str();
  auto* capture_line = add("capture", "looking inside: no probe, an empty one, taps captured to disk", capture.rounds);
  capture_line->add_option("MODEL", capture.model, "a folder or file; limpid random makes one")->required();
  capture_line->add_option("--tap", capture.tap, "what is captured")->capture_default_str();
  capture_line->add_option("--texts", capture.texts, "in a round")->check(at_least_one)->capture_default_str();
  capture_line->add_option("--tokens", capture.tokens, "of a text")->check(at_least_one)->capture_default_str();
  capture_line->add_option("--folder", capture.folder, "where the captured numbers go, for the moment")
      ->capture_default_str();
  auto* translate_line = add("translate", "translating sentences of one length", translate.rounds);
  translate_line->add_option("MODEL", translate.model, "a folder or file; limpid random makes one")->required();
  translate_line->add_option("--sentences", translate.sentences, "in all")->check(at_least_one)->capture_default_str();
  translate_line->add_option("--batch-size", translate.batch, "texts at once")
      ->check(at_least_one)
      ->capture_default_str();
  translate_line->add_option("--beam", translate.beam, "1: greedy")->check(CLI::Range(1, 1000))->capture_default_str();
  translate_line->add_option("--tokens", translate.tokens, "of every source, and written for each")
      ->check(at_least_one)
      ->capture_default_str();
  auto* embed_line = add("embed", "vectors of texts", embed.rounds);
  embed_line->add_option("MODEL", embed.model, "a folder or file; limpid random makes one")->required();
  embed_line->add_option("--ids", embed.ids, "a file of texts: the ids of one in each line (limpid tokenize --ids)");
  embed_line->add_option("--texts", embed.texts, "without --ids: in all")->check(at_least_one)->capture_default_str();
  embed_line->add_option("--tokens", embed.tokens, "without --ids: of every text")
      ->check(at_least_one)
      ->capture_default_str();
  embed_line->add_option("--batch-size", embed.batch, "texts at once")->check(at_least_one)->capture_default_str();
  auto* allreduce_line = add("allreduce", "gradients between the ranks of mpirun", allreduce.rounds);
  allreduce_line->add_option("--mb", allreduce.mb, "of gradients")
      ->check(CLI::Range(1, 1 << 16))
      ->capture_default_str();
  auto* data_parallel_line = add(
      "data-parallel", "one optimiser step whose batch is shared out over the ranks of mpirun", data_parallel.steps);
  data_parallel_line->add_option("--shape", data_parallel.shape, "as of train-step")
      ->check(CLI::IsMember(train_step_shapes()))
      ->capture_default_str();
  data_parallel_line->add_option("--shards", data_parallel.shards, "of a batch; 0: one per rank")
      ->check(CLI::Range(0, 1 << 16))
      ->capture_default_str();
  data_parallel_line->add_option("--network", data_parallel.network,
                                 "of one rank: predict others on such links, as in 10Gbit,50us");
  data_parallel_line->add_option("--batches", data_parallel.batches, "of the shape, in one")
      ->check(CLI::Range(1, 1 << 16))
      ->capture_default_str();
  const auto add_load = [&](CLI::App* bench, LoadBench& load) {
    bench->add_option("--prompts", load.prompts, "a file of prompts, one per line")->required();
    bench->add_option("--clients", load.clients, "that ask one thing after another")
        ->check(CLI::Range(1, 1 << 14))
        ->capture_default_str();
    bench->add_option("--tokens", load.tokens, "of every answer")->check(at_least_one)->capture_default_str();
    bench->add_option("--seconds", load.seconds, "how long")->check(CLI::Range(0.1, 1e6))->capture_default_str();
  };
  auto* serve_line = line.add_subcommand("serve", "a server of /v1/completions under load");
  serve_line->add_option("ADDRESS", serve.address, "http://127.0.0.1:8080")->required();
  serve_line->add_option("--extra", serve.extra, "further fields of every request, as JSON")->capture_default_str();
  add_load(serve_line, serve);
  auto* engine_line = line.add_subcommand("engine", "the engine by itself under the same load");
  engine_line->add_option("MODEL", engine.model, "a folder or file")->required();
  engine_line->add_option("--batch-size", engine.batch, "texts that a thread writes side by side")
      ->check(at_least_one)
      ->capture_default_str();
  add_load(engine_line, engine);
  line.fallthrough();
  if (const auto code = line.read(argc, argv)) return *code;
  train_step.dropout = !no_dropout;
  nlohmann::ordered_json result;
  if (*train_step_line) result = bench_train_step(train_step);
  if (*decode_line) result = bench_decode(decode);
  if (*prefill_line) result = bench_prefill(prefill);
  if (*capture_line) result = bench_capture(capture);
  if (*translate_line) result = bench_translate(translate);
  if (*embed_line) result = bench_embed(embed);
  if (*allreduce_line) result = bench_allreduce(allreduce);
  if (*data_parallel_line) result = bench_data_parallel(data_parallel);
  if (*serve_line) result = bench_serve(serve);
  if (*engine_line) result = bench_engine(engine);
  if (!result.is_null()) fmt::print("{}\n", result.dump());
  return 0;
}

}  // namespace limpid
