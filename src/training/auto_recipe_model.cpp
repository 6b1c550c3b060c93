// What the machine and the amount of text decide.

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "models/parameter_table.h"
#include "text/batches.h"
#include "training/auto_recipe.h"
#include "training/model_ladder.h"

namespace limpid {
namespace {

using Kind = OwnText::Kind;

constexpr double kForTraining = 0.92;    // of the time; the rest is for validations
constexpr int64_t kFewestUpdates = 600;  // below which nothing is learned
constexpr size_t kUsual = 1;             // rung that any amount of text may have

// What the choice goes by.
struct Amounts {
  double source = 0, target = 0;  // tokens of an epoch; texts have only `target`
  double batch = 0;               // tokens to be predicted per update
  double vocab = 0;
  double seconds = 0;  // for training

  double data() const { return source + target; }
  double epochs(double updates) const { return updates * batch / target; }
};

// Floating point operations per predicted token: two forward and four backward for each weight it passes.
double work(const RungSize& size, const Rung& rung, const Amounts& amounts) {
  const double read = amounts.source > 0 ? amounts.source / amounts.target : 1;
  return 6 * (size.decoder + size.encoder * read + amounts.vocab * static_cast<double>(rung.width));
}

// Tokens that each weight should see: few where time is short, more as it grows, up to the twenty of Hoffmann et al.
double tokens_per_weight(double minutes) { return std::min(3 * std::pow(std::max(minutes, 0.25), 0.4), 20.0); }

struct Pick {
  size_t rung = 0;
  std::string why;
};

// The largest rung that still sees enough in the time and is not far larger than its text.
Pick pick_rung(const std::string& family, const Amounts& amounts, double minutes, double flops) {
  const auto ladder = model_ladder();
  Pick pick{0, "the smallest: there is time for no larger one"};
  for (size_t i = 0; i < ladder.size(); ++i) {
    const RungSize size = rung_size(family, ladder[i]);
    const double seen = amounts.seconds * flops / work(size, ladder[i], amounts);
    if (seen / amounts.batch < 2 * kFewestUpdates || seen < tokens_per_weight(minutes) * size.total()) break;
    if (i > kUsual && size.total() > 2.5 * amounts.data()) {
      pick.why = "a larger one would learn so little text by heart";
      break;
    }
    pick = {i, fmt::format("the largest that sees {:.0f} tokens per weight in the time", seen / size.total())};
  }
  return pick;
}

double dropout_for(double epochs) { return epochs < 2 ? 0 : epochs < 8 ? 0.1 : epochs < 30 ? 0.2 : 0.3; }

double most_epochs(Kind kind) { return kind == Kind::labels ? 30 : kind == Kind::pairs ? 150 : 60; }

int64_t batch_tokens(double minutes, double tokens) {
  const int64_t by_time = minutes < 5 ? 1024 : minutes < 30 ? 2048 : 4096;
  return std::clamp<int64_t>(static_cast<int64_t>(tokens / 20) / 64 * 64, 256, by_time);
}

std::string clock(double seconds) {
  return seconds < 100 ? fmt::format("{:.0f} s", seconds) : fmt::format("{:.0f} min", seconds / 60);
}

class Chooser {
 public:
  Chooser(const ChosenRecipe& data, const OwnText& text, const Dataset& dataset, const StepTimer& timer)
      : chosen_(data), recipe_(chosen_.recipe), text_(text), dataset_(dataset), timer_(timer) {
    family_ = model_type_of(recipe_);
    const CorpusReport& report = dataset.train_report;
    const bool pairs = text.kind == Kind::pairs;
    amounts_.source = pairs ? static_cast<double>(report.tokens[0]) : 0;
    amounts_.target = static_cast<double>(std::max<int64_t>(report.tokens[pairs ? 1 : 0], 1));
    amounts_.vocab = text.kind == Kind::labels ? 0 : static_cast<double>(dataset.tokenizers.target->size());
    const double asked = asked_end().minutes;
    minutes_ = asked > 0 ? asked : text.minutes;
    recipe_.stop.minutes = minutes_;
    amounts_.seconds = kForTraining * 60 * minutes_;
    recipe_.checkpoint.keep = 1;
    recipe_.optimizer.clip_norm = 1;
  }

  ChosenRecipe choose() {
    choose_batch();
    if (text_.from.empty())
      choose_size();
    else
      keep_model();
    choose_schedule();
    if (text_.ranks > 1) choose_shards();
    recipe_ = with_overrides(recipe_, text_.overrides);
    return chosen_;
  }

 private:
  void decide(const char* what, std::string choice, std::string why) {
    chosen_.decisions.push_back({what, std::move(choice), std::move(why)});
  }

  void choose_batch() {
    const double longer = std::max(amounts_.source, amounts_.target);
    recipe_.batch.tokens = batch_tokens(minutes_, longer);
    recipe_ = with_overrides(recipe_, text_.overrides);
    amounts_.batch = std::max(1.0, static_cast<double>(recipe_.batch.tokens) * amounts_.target / longer);
  }

  // The recipe with the model of a rung, as it would be trained.
  Recipe with_rung(size_t rung, double dropout) const {
    Recipe recipe = recipe_;
    const int64_t positions = recipe.data.unit == "stream" ? recipe.batch.window : recipe.data.max_length;
    recipe.model = rung_model(family_, model_ladder()[rung], positions, dropout);
    recipe.schedule.learning_rate = rate_for(static_cast<double>(model_ladder()[rung].width));
    return with_overrides(recipe, text_.overrides);
  }

  static double rate_for(double width) { return std::round(3e5 * std::pow(128 / width, 0.75)) / 1e8; }

  // A trained model is only to be moved a little.
  double rate_of_kept_model() const {
    return rate_for(static_cast<double>(std::max<int64_t>(parse_config(recipe_.model).width, 512))) / 4;
  }

  double measured_flops(size_t rung, double seconds) {
    const Recipe recipe = with_rung(rung, 0.1);
    timing_ = timer_(recipe, seconds);
    if (text_.kind != Kind::labels && task_of(recipe) != Task::masked && timing_.tokens > 0)
      amounts_.batch = timing_.tokens;
    const Rung& size = model_ladder()[rung];
    return amounts_.batch * work(rung_size(family_, size), size, amounts_) / timing_.seconds;
  }

  void choose_size() {
    size_t measured = minutes_ < 1 ? 0 : 1;
    double flops = measured_flops(measured, 0.5);
    Pick pick = pick_rung(family_, amounts_, minutes_, flops);
    for (int tries = 0; tries < 3 && pick.rung != measured; ++tries) {  // the speed of the very size that is taken
      measured = pick.rung;
      flops = measured_flops(measured, 1);
      const Pick again = pick_rung(family_, amounts_, minutes_, flops);
      if (again.rung >= pick.rung) break;
      pick = again;
    }
    rung_ = pick.rung;
    const Rung& rung = model_ladder()[rung_];
    decide("model",
           fmt::format("{}, {} wide, {}{} layers, {} parameters", family_, rung.width, rung.layers,
                       text_.kind == Kind::pairs && family_ != "rnn_seq2seq" ? fmt::format(" + {}", rung.layers) : "",
                       with_separators(timing_.parameters)),
           pick.why);
  }

  void keep_model() {
    timing_ = timer_(recipe_, 1);
    if (timing_.tokens > 0 && text_.kind != Kind::labels) amounts_.batch = timing_.tokens;
    decide("model", fmt::format("{} of {}, {} parameters", family_, text_.from, with_separators(timing_.parameters)),
           "the run goes on from its weights");
  }

  // What the user says of the end: by the keys of [stop], or 0.
  Recipe::Stopping asked_end() const {
    Recipe open = recipe_;
    open.stop = {.steps = int64_t{1} << 40, .minutes = 1e9};  // something has to end it
    Recipe::Stopping asked = with_overrides(open, text_.overrides).stop;
    if (asked.steps == open.stop.steps) asked.steps = 0;
    if (asked.minutes == open.stop.minutes) asked.minutes = 0;
    return asked;
  }

  void choose_schedule() {
    const Recipe::Stopping asked = asked_end();
    const double per_epoch = amounts_.target / amounts_.batch;
    const double by_time = amounts_.seconds / timing_.seconds;
    const double most = std::max(most_epochs(text_.kind) * per_epoch, static_cast<double>(kFewestUpdates));
    const bool enough = by_time > most;
    double updates = enough ? most : by_time;
    const bool counted = asked.steps > 0 || asked.epochs > 0;  // by the user
    if (counted) {
      const double by_steps = asked.steps > 0 ? static_cast<double>(asked.steps) : 1e18;
      updates = asked.epochs > 0 ? std::min(by_steps, static_cast<double>(asked.epochs) * per_epoch) : by_steps;
      // Nobody asked for the ten minutes that are usual.
      if (!text_.minutes_given && asked.minutes == 0) recipe_.stop.minutes = 0;
      if (recipe_.stop.minutes > 0) updates = std::min(updates, by_time);
    }
    const auto steps = std::max<int64_t>(static_cast<int64_t>(updates), counted ? 1 : 20);
    const double epochs = amounts_.epochs(static_cast<double>(steps));
    const bool closed = recipe_.tokenizer.kind == "words" && text_.kind == Kind::text;
    const double dropout = closed ? 0 : dropout_for(epochs);
    if (text_.from.empty()) recipe_ = with_rung(rung_, dropout);
    if (!text_.from.empty()) recipe_.schedule.learning_rate = rate_of_kept_model();
    decide("batch", fmt::format("{} tokens", with_separators(recipe_.batch.tokens)),
           fmt::format("{:.3f} s per update on this machine", timing_.seconds));
    recipe_.stop.steps = asked.epochs > 0 && asked.steps == 0 ? 0 : steps;
    recipe_.schedule.kind = "linear";
    recipe_.schedule.warmup = std::clamp<int64_t>(steps / 12, 1, 1000);
    decide("schedule",
           fmt::format("{} updates, {:.{}f} epochs, learning rate {} falling to 0", with_separators(steps), epochs,
                       epochs < 10 ? 1 : 0, recipe_.schedule.learning_rate),
           counted
               ? fmt::format("as asked, about {}", clock(static_cast<double>(steps) * timing_.seconds / kForTraining))
           : enough ? fmt::format("about {}: more epochs would only learn it by heart",
                                  clock(static_cast<double>(steps) * timing_.seconds / kForTraining))
                    : fmt::format("what fits into {:g} minute{}", minutes_, minutes_ == 1 ? "" : "s"));
    if (text_.from.empty())
      decide("dropout", fmt::format("{}", dropout),
             closed ? "a closed vocabulary: what the text says is to be learned by heart"
                    : fmt::format("every example is seen {:.{}f} times", epochs, epochs < 10 ? 1 : 0));
    choose_optimizer(epochs);
    choose_validation(steps);
  }

  // After model and schedule: these go by what one rank alone does, since an update of so few tokens gains little from
  // others.
  void choose_shards() {
    recipe_.batch.shards = text_.ranks;
    recipe_ = with_overrides(recipe_, text_.overrides);
    decide("shards", fmt::format("{}", recipe_.batch.shards),
           fmt::format("parts of a batch, for {} ranks; model and schedule are chosen for what one rank does in the "
                       "time: more time, or a larger batch.tokens, is what several are for",
                       text_.ranks));
  }

  void choose_optimizer(double epochs) {
    const bool writes = text_.kind == Kind::text;
    recipe_.optimizer.kind = writes ? "adamw" : "adam";
    recipe_.optimizer.weight_decay = writes && recipe_.tokenizer.kind != "words" ? 0.1 : 0;
    recipe_.optimizer.beta2 = writes ? 0.99 : 0.98;
    recipe_.optimizer.label_smoothing = text_.kind == Kind::pairs && epochs >= 3 ? 0.1 : 0;
  }

  void choose_validation(int64_t steps) {
    const int64_t times = minutes_ < 3 ? 4 : minutes_ < 60 ? 8 : 16;
    recipe_.validation.steps = recipe_.checkpoint.steps = (steps + times - 1) / times;
    recipe_.validation.metric = text_.kind == Kind::pairs ? "chrf" : text_.kind == Kind::labels ? "exact" : "loss";
    recipe_.decode.beam = 4;
    const CorpusReport& held_out = dataset_.valid_report;
    decide("held out",
           recipe_.data.unit == "stream"
               ? fmt::format("{} tokens", with_separators(held_out.tokens[0]))
               : fmt::format("{} {}", with_separators(held_out.kept), text_.kind == Kind::pairs ? "pairs" : "lines"),
           recipe_.data.valid.empty() ? "taken from the text, never trained on; the best model is the one that does "
                                        "best on them"
                                      : "the files given for it");
  }

  ChosenRecipe chosen_;
  Recipe& recipe_ = chosen_.recipe;
  const OwnText& text_;
  const Dataset& dataset_;
  const StepTimer& timer_;
  std::string family_;
  double minutes_ = 0;
  Amounts amounts_;
  StepTiming timing_;
  size_t rung_ = 0;
};

}  // namespace

ChosenRecipe choose_model(const ChosenRecipe& data, const OwnText& text, const Dataset& dataset,
                          const StepTimer& timer) {
  return Chooser(data, text, dataset, timer).choose();
}

}  // namespace limpid
