// limpid sae train, view: sparse autoencoders on a model's activations.

#include <fmt/format.h>

#include <cmath>

#include "app/look.h"
#include "app/output_file.h"
#include "app/progress.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "inspect/display_text.h"
#include "inspect/sae_dashboard.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

struct TrainCommand {
  std::string kind = "topk", out;
  SaeConfig sae;
  int64_t expansion = 8;
  SaeTrainingOptions training;
  ActivationBufferOptions buffer;
  CorpusOptions corpus;
  int64_t score_tokens = 20000;
  bool quiet = false;
};

std::string score_text(const SaeScore& score) {
  std::string text = fmt::format(
      "on {} tokens left out of training:\n  features that fire at a token (L0)  {:.1f}\n  explained variance        "
      "          {:.1f} %\n  dead features                       {:.1f} %\n",
      score.tokens, score.active, 100 * score.explained_variance, 100 * score.dead_share);
  if (score.loss > 0)
    text += fmt::format(
        "  loss recovered                      {:.1f} %   ({:.4f} nats per token; with the reconstruction {:.4f}, with "
        "zeros {:.4f})\n",
        100 * score.loss_recovered(), score.loss, score.loss_spliced, score.loss_zeroed);
  return text;
}

int run_train_sae(const LookOptions& options, TrainCommand& command) {
  check_sae_folder(command.out);
  const InterruptGuard guard;
  const Session session = open_model(options);
  ActivationBuffer buffer(session, command.corpus, command.buffer);
  const std::vector<TapInfo> taps = find_taps(list_taps(session.model()), command.buffer.tap, session.config());
  command.buffer.tap = taps.at(0).name;
  command.sae.kind = command.kind == "topk" ? SaeKind::topk : SaeKind::relu;
  command.sae.tap = command.buffer.tap;
  command.sae.hook = hook_name(command.sae.tap, session.config());
  command.sae.model = options.model;
  command.sae.inputs = buffer.width();
  if (command.sae.features == 0) command.sae.features = command.expansion * buffer.width();
  LoadedSae sae = make_sae(command.sae);
  fmt::print(stderr, "limpid sae: {} features of the {} numbers at {}, {}\n", command.sae.features, command.sae.inputs,
             command.sae.tap, bytes_text(static_cast<uint64_t>(sae.parameters->size()) * 4));
  Progress progress(command.training.steps, command.quiet || options.json);
  const int64_t steps = train_sae(
      sae, command.training, [&](Matrix rows) { buffer.draw(rows); },
      [&](const SaeStep& step) {
        progress.update(step.step, fmt::format("error {:.3f}  L0 {:.1f}  dead {}", step.loss, step.active, step.dead));
        return !interrupted();
      });
  progress.clear();
  const SaeScore score = score_sae(session, *sae.sae, command.corpus, command.buffer, command.score_tokens);
  for (double density : score.density)
    sae.log_density.push_back(static_cast<real>(std::log10(std::max(density, 1e-10))));
  sae.about = {{"steps", steps},
               {"batch", command.training.batch},
               {"vectors", steps * command.training.batch},
               {"learning_rate", command.training.learning_rate},
               {"sparsity", command.sae.kind == SaeKind::relu ? Json(command.training.sparsity) : Json(nullptr)},
               {"seed", command.training.seed},
               {"text", command.corpus.files},
               {"score", sae_score_json(score)}};
  write_sae(command.out, sae);
  if (options.json)
    write_json({{"out", command.out}, {"tap", command.sae.tap}, {"steps", steps}, {"score", sae_score_json(score)}});
  else
    fmt::print("{}", score_text(score));
  if (!interrupted()) return 0;
  fmt::print(stderr, "Stopped after {} of {} steps; what was learned so far is in {}.\n", steps, command.training.steps,
             command.out);
  return 128 + interrupt_signal();
}

struct ViewCommand {
  std::string sae, html;
  CorpusOptions corpus;
  DashboardOptions dashboard;
};

std::string board_text(const Session& session, const FeatureDashboard& board, const TerminalStyle& style) {
  const auto names = [&](const std::vector<WeightedToken>& tokens) {
    std::string line;
    for (const WeightedToken& token : tokens) line += " " + visible(session.piece(token.id));
    return line;
  };
  std::string text = fmt::format("feature {}, fires at {:.3f} % of the tokens\n  {}\n", board.feature,
                                 100 * board.firing.share(), histogram_line(board.firing.histogram()));
  if (!board.said.promoted.empty())
    text += fmt::format("  promotes {}\n  demotes  {}\n", names(board.said.promoted), names(board.said.demoted));
  for (const FiringText& one : board.firing.texts())
    text += fmt::format("  {:8.3f}  {}\n", one.activation, firing_line(one, style.width - 14, style.color));
  return text + "\n";
}

void run_view_sae(const LookOptions& options, const ViewCommand& command) {
  const LoadedSae sae = read_sae(command.sae);
  const Session session = open_model(options);
  constexpr int64_t kParts = 1000;
  Progress progress(kParts, options.json);
  const std::vector<FeatureDashboard> boards =
      feature_dashboards(session, sae, command.corpus, command.dashboard,
                         [&](double part) { progress.update(static_cast<int64_t>(part * kParts), "reading"); });
  progress.clear();
  if (!command.html.empty()) write_output(command.html, dashboard_html(session, sae, boards));
  if (options.json) {
    for (const FeatureDashboard& board : boards) write_json(dashboard_json(session, board));
  } else if (command.html != "-") {
    for (const FeatureDashboard& board : boards) fmt::print("{}", board_text(session, board, terminal_style(options)));
  }
}

CLI::App* add_train(CommandLine& line, LookOptions& options, TrainCommand& command) {
  CLI::App* part = line.add_subcommand("train", "Trains an autoencoder on the vectors of one tap over a corpus.");
  part->add_option("MODEL", options.model, "a model's folder or file")->required();
  part->add_option("--tap", command.buffer.tap, "whose vectors, by our name or TransformerLens'")->required();
  add_corpus_options(*part, command.corpus, true);
  part->add_option("--out", command.out, "folder to write, as SAELens lays it out")->required();
  part->add_option("--kind", command.kind, "topk, or relu with an L1 penalty")
      ->check(CLI::IsMember({"topk", "relu"}))
      ->capture_default_str();
  part->add_option("--features", command.sae.features, "how many (default: --expansion times the vector)");
  part->add_option("--expansion", command.expansion, "features per number of the vector")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  part->add_option("--k", command.sae.k, "topk: features kept at each token")->capture_default_str();
  part->add_option("--sparsity", command.training.sparsity, "relu: weight of the L1 penalty")->capture_default_str();
  part->add_option("--steps", command.training.steps, "updates")->check(CLI::PositiveNumber)->capture_default_str();
  part->add_option("--batch-size", command.training.batch, "vectors per update")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  part->add_option("--learning-rate", command.training.learning_rate, "at its highest")->capture_default_str();
  part->add_option("--dead-after", command.training.dead_after, "updates without firing that make a feature dead")
      ->capture_default_str();
  part->add_option("--resample-every", command.training.resample_every,
                   "updates between giving dead features a new direction (0: never)")
      ->capture_default_str();
  part->add_option("--buffer", command.buffer.rows, "vectors to shuffle (0: 64 MB of them)");
  part->add_option("--score-tokens", command.score_tokens, "to measure on")->capture_default_str();
  part->add_option("--seed", command.training.seed, "of all random numbers")->capture_default_str();
  part->add_flag("--quiet", command.quiet, "no progress");
  part->add_flag("--json", options.json, "print JSON, one object per line");
  return part;
}

CLI::App* add_view(CommandLine& line, LookOptions& options, ViewCommand& command) {
  CLI::App* part = line.add_subcommand("view", "Shows what features stand for: texts, histogram, tokens promoted.");
  part->add_option("SAE", command.sae, "the autoencoder's folder")->required();
  part->add_option("MODEL", options.model, "the model's folder or file")->required();
  add_corpus_options(*part, command.corpus, true);
  part->add_option("--feature", command.dashboard.features, "these (default: --count of them, rare to frequent)");
  part->add_option("--count", command.dashboard.count, "features to show")->capture_default_str();
  part->add_option("--top", command.dashboard.texts, "texts of each")->capture_default_str();
  add_output_option(*part, "--html", command.html, "a page with all of it to this file");
  part->add_flag("--json", options.json, "print JSON, one object per line");
  part->add_option("--color", options.color, "colours in the terminal")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  part->add_option("--width", options.width, "columns of the terminal (0: ask it)")->check(CLI::Range(0, 10000));
  return part;
}

}  // namespace

int run_sae(int argc, char** argv) {
  CommandLine line("sae",
                   "Trains sparse autoencoders on a model's activations and shows what their features stand for.",
                   "limpid sae train MODEL --tap blocks.2.ffn_out --text input.txt --window 64 --out sae\n"
                   "         limpid sae view sae MODEL --text input.txt --window 64 --html features.html");
  LookOptions options;
  TrainCommand train;
  ViewCommand view;
  line.require_subcommand(1);
  line.fallthrough();
  CLI::App* train_part = add_train(line, options, train);
  add_view(line, options, view);
  if (const auto code = line.read(argc, argv)) return *code;
  train.buffer.seed = train.training.seed;
  if (train_part->parsed()) return run_train_sae(options, train);
  run_view_sae(options, view);
  return 0;
}

}  // namespace limpid
