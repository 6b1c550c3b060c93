// limpid induction: an induction head forms in two layers of attention, and not in one.

#include <fmt/format.h>

#include "app/look.h"
#include "app/progress.h"
#include "base/interrupt.h"
#include "inspect/induction.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const std::vector<InductionCurve>& curves) {
  Json list = Json::array();
  for (const InductionCurve& curve : curves) list.push_back(induction_json(curve));
  return list;
}

std::string csv_of(const std::vector<InductionCurve>& curves) {
  std::string csv = "layers,step,score,layer,head,loss_first,loss_second\n";
  for (const InductionCurve& curve : curves)
    for (const InductionPoint& point : curve.points)
      csv += fmt::format("{},{},{},{},{},{},{}\n", curve.layers, point.step, point.score, point.layer, point.head,
                         point.first, point.second);
  return csv;
}

std::string summary(const std::vector<InductionCurve>& curves) {
  std::string text;
  for (const InductionCurve& curve : curves) {
    const InductionPoint& last = curve.points.back();
    text += fmt::format(
        "{} layer{}: induction score {:.3f} (layer {}, head {}), loss {:.3f} on the first copy, {:.3f} on the "
        "second\n",
        curve.layers, curve.layers > 1 ? "s" : " ", last.score, last.layer, last.head, last.first, last.second);
  }
  return text;
}

}  // namespace

int run_induction(int argc, char** argv) {
  CommandLine line("induction",
                   "Trains models of attention alone on random sequences, each repeated once, and shows, step by step, "
                   "an induction head "
                   "form in two layers and not in one.",
                   "limpid induction --svg induction.svg");
  InductionStudyOptions study;
  LookOptions options;
  bool quiet = false;
  line.add_option("--layers", study.layers, "one model for each number")->capture_default_str();
  line.add_option("--steps", study.steps, "of training")->check(CLI::PositiveNumber)->capture_default_str();
  line.add_option("--every", study.every, "steps between measurements")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  line.add_option("--model-width", study.width, "of the residual stream")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  line.add_option("--heads", study.heads, "of a layer")->check(CLI::PositiveNumber)->capture_default_str();
  line.add_option("--batch-size", study.batch, "sequences per step")->check(CLI::PositiveNumber)->capture_default_str();
  line.add_option("--learning-rate", study.learning_rate, "after 100 steps of warm-up")->capture_default_str();
  line.add_option("--alphabet", study.alphabet, "number of letters")->capture_default_str();
  line.add_option("--shortest", study.shortest, "letters of the shortest sequence that is repeated")
      ->capture_default_str();
  line.add_option("--longest", study.longest, "letters of the longest sequence that is repeated")
      ->capture_default_str();
  line.add_option("--seed", study.seed, "of weights and letters")->capture_default_str();
  line.add_flag("--quiet", quiet, "no progress");
  add_result_options(line, options, true);
  if (const auto code = line.read(argc, argv)) return *code;
  const InterruptGuard guard;
  Progress progress(study.steps * static_cast<int64_t>(study.layers.size()), quiet || options.json);
  const std::vector<InductionCurve> curves = study_induction(study, [&](int64_t done, const InductionCurve& so_far) {
    progress.update(done, fmt::format("{} layer{}, score {:.2f}", so_far.layers, so_far.layers > 1 ? "s" : "",
                                      so_far.points.back().score));
    return !interrupted();
  });
  progress.clear();
  write_result(options, {.shown =
                             [&] {
                               const TerminalStyle style = terminal_style(options);
                               return to_terminal(induction_chart(curves), style) + "\n" +
                                      to_terminal(induction_loss_chart(curves), style) + "\n" + summary(curves);
                             },
                         .csv = [&] { return csv_of(curves); },
                         .svg = [&] { return to_svg(induction_chart(curves)); },
                         .json = [&] { return json_of(curves); }});
  return 0;
}

}  // namespace limpid
