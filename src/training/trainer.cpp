#include "training/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/as_errors.h"
#include "base/json.h"
#include "base/parallel.h"
#include "base/seconds_since.h"
#include "formats/model_folder.h"
#include "training/checkpoint.h"
#include "training/example_batch.h"
#include "training/model_files.h"
#include "training/pace.h"
#include "training/resume.h"
#include "training/run_logs.h"
#include "training/shared_dataset.h"
#include "training/start_from.h"
#include "training/subword_sampling.h"
#include "training/update.h"
#include "training/validation.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kLogEvery = 10;  // updates
constexpr int64_t kMostRollbacks = 5;

class Trainer {
 public:
  Trainer(const Recipe& recipe, RunFolder& folder, TrainingObserver& observer, const TrainingOptions& options)
      : recipe_(recipe),
        folder_(folder),
        observer_(observer),
        options_(options),
        alone_(make_lone_communicator()),
        ranks_(options.ranks ? *options.ranks : alone_),
        dataset_(shared_dataset(recipe, folder.path(), observer, ranks_, options.program)),
        model_(make_model(make_config(recipe, dataset_))),
        parameters_([this](const WeightVisitor& visitor) { model_->visit_parameters(visitor); }),
        updater_(recipe, *model_, parameters_, ranks_),
        sampling_(recipe, dataset_.tokenizers),
        batches_(*dataset_.train, batches_options(recipe)),
        task_(task_of(recipe)),
        steps_(expected_steps(recipe, batches_.batches_per_epoch())) {
    check_schedule(recipe.schedule, steps_);
    if (options.timed) updater_.measure();
    if (recipe.checkpoint.ema > 0) average_ = make_flat_buffer(parameters_.size());
  }

  TrainingResult run() {
    if (auto finished = start()) return *finished;
    while (true) {
      if (const std::string why = end(); !why.empty()) return finish(why);
      const int64_t epoch = batches_.position().epoch;
      const auto begun = std::chrono::steady_clock::now();
      const Update update = this->update();
      const double seconds = shared(seconds_since(begun));
      progress_.seconds += seconds;
      pace_.add(update.tokens, seconds);
      folder_.check_held();
      const bool new_epoch = batches_.position().epoch != epoch, last = !end().empty();
      const auto due = [&](int64_t every) { return every > 0 ? progress_.step % every == 0 : new_epoch; };
      const bool kept = due(recipe_.validation.steps) || due(recipe_.checkpoint.steps) || last;
      if (diverged(update) || (kept && !weights_are_finite())) {
        roll_back(update);
        continue;
      }
      report(update);
      bool better = false;
      if (due(recipe_.validation.steps) || (last && recipe_.checkpoint.average == 0)) {
        const auto from = std::chrono::steady_clock::now();
        better = validate_now(due(recipe_.validation.steps));
        progress_.seconds += shared(seconds_since(from));
      }
      if (due(recipe_.checkpoint.steps))
        save("step");
      else if (better || last)
        save("extra");
      if (better) keep_best();
      if (any_interrupted()) return interrupted();
    }
  }

 private:
  // A number of rank 0, for all: clocks differ.
  double shared(double number) {
    ranks_.broadcast(std::as_writable_bytes(std::span(&number, 1)));
    return number;
  }
  bool any_interrupted() {
    const std::vector<std::string> all = ranks_.gather(options_.interrupted() ? "yes" : "no");
    return std::find(all.begin(), all.end(), "yes") != all.end();
  }

  // The result, where the run was finished before and nothing remains to be done.
  std::optional<TrainingResult> start() {
    FormerSettings former;
    if (ranks_.first()) {
      remove_unfinished(folder_.checkpoints());
      former = former_settings(folder_, recipe_, options_);
    }
    const auto resumed = read_state([&](TrainingState& state) -> std::string {
      const auto last = read_last_checkpoint(folder_.checkpoints(), state);
      if (last)
        for (const std::string& text : last->notes) observer_.note(text);
      return last ? last->name : "";
    });
    if (!resumed.empty()) {
      last_saved_ = resumed;
      if (ranks_.first()) finished_ = read_finished(folder_.path());
      if (auto done = finished_before()) return done;
      check_not_past(folder_, recipe_, progress_);
    }
    if (ranks_.first()) begin_files(former, !resumed.empty());
    share_progress();
    observer_.starting(dataset_, model_->config(), parameters_.trainable_size(), progress_.step);
    return std::nullopt;
  }

  // Only once the checkpoint has been read: where it is of another model, the one in the folder stays as it was.
  void begin_files(const FormerSettings& former, bool resumed) {
    folder_.check_held();
    write_model_files(folder_.path(), recipe_, model_->config());
    write_record();
    logs_.open(folder_, resumed ? std::optional(progress_.step) : std::nullopt);
    if (!former.changes.empty()) logs_.changed(progress_.step, former.changes);
    if (resumed) take_up(former.recipe);
  }

  // Begins anew, then `read` puts what is on rank 0's disk into the state there and says its name ("": nothing); all
  // other ranks get it from rank 0.
  std::string read_state(const std::function<std::string(TrainingState&)>& read) {
    initialize();
    TrainingState state = this->state();
    std::string name;
    if (ranks_.first()) {
      name = read(state);
      if (!name.empty()) restore(state);
    }
    if (ranks_.size() == 1) return name;
    SpreadMoments& moments = *updater_.moments();
    const nlohmann::ordered_json told = {
        {"name", name}, {"steps", updater_.optimizer().steps()}, {"progress", progress_.json()}};
    const auto heard =
        parse_ordered_json(ranks_.first() ? moments.end(told.dump()) : moments.follow(), "[ranks] the first rank");
    updater_.optimizer().set_steps(heard.at("steps"));
    progress_ = RunProgress::from(heard.at("progress"));
    if (!heard.at("name").get<std::string>().empty()) batches_.seek(progress_.position);
    const auto size = static_cast<size_t>(parameters_.size());
    ranks_.broadcast(std::as_writable_bytes(std::span(parameters_.data(), size)));
    if (average_) ranks_.broadcast(std::as_writable_bytes(std::span(average_.get(), size)));
    return heard.at("name");
  }

  void share_progress() {
    progress_ =
        RunProgress::from(parse_ordered_json(ranks_.broadcast(progress_.json().dump()), "[ranks] the first rank"));
  }

  std::optional<TrainingResult> finished_before() {
    const bool finished = !end().empty() && finished_ && finished_->steps == progress_.step;
    if (ranks_.broadcast(finished ? "finished" : "") != "finished") return std::nullopt;
    TrainingResult result = this->result(finished_ ? finished_->why : "");
    result.was_finished = true;
    if (finished_) result.final = finished_->final;
    return result;
  }

  void take_up(const std::optional<Recipe>& former) {
    // Killed between the checkpoint with the best weights and the model that they are.
    if (progress_.best_step == progress_.step &&
        checkpoint_pointed_at(folder_.checkpoints(), "best") != std::optional(last_saved_))
      keep_best();
    const std::string& metric = recipe_.validation.metric;
    if (finished_ && finished_->steps <= progress_.step && (!former || former->validation.metric == metric))
      standing_ = finished_->final;
    if (former && former->validation.metric != metric) {  // nothing is known of how good the model is by the new one
      progress_.best = worst_value(metric);
      progress_.best_loss = RunProgress().best_loss;
    } else if (standing_ && is_better(metric_value(*standing_, metric), progress_.best, metric)) {
      // What an earlier end has left as the model is replaced by nothing worse.
      progress_.best = metric_value(*standing_, metric);
      progress_.best_loss = standing_->loss;
      progress_.best_step = standing_->step;
    }
    const bool stretched = recipe_.schedule.kind == "cosine" || recipe_.schedule.kind == "linear";
    const int64_t before = former ? expected_steps(*former, batches_.batches_per_epoch()) : steps_;
    if (stretched && before != steps_)
      observer_.note(fmt::format(
          "schedule.kind is \"{}\": with {} steps instead of {} the learning rate goes on at {:.3g} instead of {:.3g}.",
          recipe_.schedule.kind, steps_, before, rate_at(progress_.step + 1, steps_),
          rate_at(progress_.step + 1, before)));
  }

  double rate_at(int64_t step, int64_t steps) const {
    return progress_.rate_factor * learning_rate(recipe_.schedule, step, steps, model_->config().width);
  }

  void write_record() const {
    folder_.check_held();
    write_run_record(
        folder_.path(),
        {.command = options_.command, .seed = recipe_.seed, .dataset = dataset_.record, .finished = finished_});
  }

  void initialize() {
    parameters_.initialize(recipe_.seed);
    if (!recipe_.start_from.empty() && ranks_.first()) take_weights(recipe_.start_from, *model_, parameters_);
    if (average_) std::copy(parameters_.data(), parameters_.data() + parameters_.size(), average_.get());
    Optimizer& optimizer = updater_.optimizer();
    std::fill_n(optimizer.means().data(), optimizer.means().size(), real{0});
    std::fill_n(optimizer.squares().data(), optimizer.squares().size(), real{0});
    optimizer.set_steps(0);
    progress_ = {};
    progress_.best = worst_value(recipe_.validation.metric);
    batches_.seek({});
  }

  TrainingState state() {
    return {.config = &model_->config(),
            .parameters = &parameters_,
            .optimizer = &updater_.optimizer(),
            .moments = updater_.moments(),
            .average =
                average_ ? std::span<real>(average_.get(), static_cast<size_t>(parameters_.size())) : std::span<real>(),
            .progress = progress_.json()};
  }

  void restore(const TrainingState& state) {
    progress_ = RunProgress::from(state.progress);
    batches_.seek(progress_.position);
  }

  Update update() {
    const auto begun = std::chrono::steady_clock::now();
    std::vector<std::vector<TokenExample>> batches;
    for (int64_t i = 0; i < recipe_.batch.accumulate; ++i)
      batches.push_back(sampling_.drawn(batches_.next(), progress_.step * recipe_.batch.accumulate + i));
    const double read = seconds_since(begun);
    const Update result = updater_.run(std::move(batches), progress_.step, rate_at(progress_.step + 1, steps_));
    if (options_.timed) {
      UpdateTiming timing = updater_.timing();
      timing.read = read;
      options_.timed(timing);
    }
    if (!std::isfinite(result.loss)) return result;  // the weights stay as they are
    if (average_) follow_average();
    ++progress_.step;
    progress_.position = batches_.position();
    return result;
  }

  void follow_average() {
    // The average of a young run forgets its random start sooner.
    const double t = static_cast<double>(progress_.step);
    const auto keep = static_cast<real>(std::min(recipe_.checkpoint.ema, (1 + t) / (10 + t)));
    const real* now = parameters_.data();
    real* average = average_.get();
    parallel_ranges(parameters_.size(), 1 << 16, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        average[i] += (1 - keep) * (now[i] - average[i]);  // frozen ones stay, bit for bit
    });
  }

  // A loss or gradient that is no number, a loss far above that of guessing, or one that has risen far above the
  // lowest.
  bool diverged(const Update& update) {
    if (!std::isfinite(update.loss) || !std::isfinite(update.norm)) return true;
    const Config& config = model_->config();
    const auto answers = static_cast<double>(config.labels.empty() ? config.vocab : std::ssize(config.labels));
    return update.loss > 100 * (1 + std::log(answers)) || progress_.add_loss(update.loss);
  }

  // Asked before weights are kept: those that an update has just ruined show in no loss yet.
  bool weights_are_finite() const {
    return std::all_of(parameters_.data(), parameters_.data() + parameters_.size(),
                       [](real x) { return std::isfinite(x); });
  }

  // To the last checkpoint; where the run has diverged from that one again, to the one before it, and in the end to the
  // start: a checkpoint may have been written when the weights were already ruined.
  void go_back() {
    returned_to_ = read_state([&](TrainingState& state) -> std::string {
      if (!returned_to_) {
        const auto last = read_last_checkpoint(folder_.checkpoints(), state);
        return last ? last->name : "";
      }
      const std::vector<std::string> names = list_checkpoints(folder_.checkpoints());
      const auto used = std::find(names.begin(), names.end(), *returned_to_);
      if (returned_to_->empty() || used == names.begin() || used == names.end()) return "";
      read_checkpoint(folder_.checkpoints() / *(used - 1), state);
      return *(used - 1);
    });
  }

  void roll_back(const Update& update) {
    const int64_t at = progress_.step;
    const double factor = progress_.rate_factor / 2;
    const int64_t rollbacks = progress_.rollbacks + 1;
    if (rollbacks > kMostRollbacks)
      fail_on_all(ranks_,
                  "[train] the loss diverged {} times, the last time at step {} with {} of the learning rate: lower "
                  "schedule.learning_rate, or raise schedule.warmup",
                  rollbacks, at, progress_.rate_factor);
    go_back();
    progress_.rate_factor = factor;
    progress_.rollbacks = rollbacks;
    observer_.note(fmt::format("The loss diverged at step {} ({}): back to step {} with half the learning rate.", at,
                               std::isfinite(update.loss) ? fmt::format("{:.2f}", update.loss) : "not a number",
                               progress_.step));
    if (!ranks_.first()) return;
    logs_.open(folder_, progress_.step);  // what came after is forgotten
    logs_.diverged(progress_.step, at, factor);
  }

  void report(const Update& update) {
    const double per_step = pace_.seconds_per_step();
    const int64_t left = std::max<int64_t>(steps_ - progress_.step, 0);
    double seconds_left = per_step * static_cast<double>(left);
    if (recipe_.stop.minutes > 0) {
      const double by_clock = std::max(0.0, 60 * recipe_.stop.minutes - progress_.seconds);
      seconds_left = steps_ > 0 ? std::min(seconds_left, by_clock) : by_clock;
    }
    const StepReport report{.step = progress_.step,
                            .steps = steps_,
                            .epoch = progress_.position.epoch,
                            .loss = progress_.smoothed_loss,
                            .learning_rate = update.rate,
                            .gradient_norm = update.norm,
                            .tokens_per_second = pace_.tokens_per_second(),
                            .seconds = progress_.seconds,
                            .seconds_left = seconds_left};
    observer_.step(report);
    if (progress_.step % kLogEvery == 0 && ranks_.first()) logs_.step(report, update);
  }

  // The moving average takes the place of the weights while somebody looks at the model.
  template <class Look>
  auto with_average(const Look& look) {
    const auto swap = [&] {
      if (average_) std::swap_ranges(average_.get(), average_.get() + parameters_.size(), parameters_.data());
    };
    swap();
    auto result = look();
    swap();
    return result;
  }

  // `scheduled`: at a step that every run of this recipe validates at; only those count for patience.
  bool validate_now(bool scheduled) {
    ValidationReport report = with_average([&] {
      if (options_.validated) options_.validated(*model_, dataset_, progress_.step);
      return validate(*model_, recipe_, dataset_, ranks_);
    });
    report.step = progress_.step;
    report.epoch = progress_.position.epoch;
    const double value = metric_value(report, recipe_.validation.metric);
    const bool better = is_better(value, progress_.best, recipe_.validation.metric);
    // Of equal scores, as those of a run that gets nothing or everything right, the lower loss counts.
    report.best = better || (value == progress_.best && report.loss < progress_.best_loss);
    progress_.validated_step = progress_.step;
    if (scheduled) progress_.without_better = better ? 0 : progress_.without_better + 1;
    if (report.best) {
      best_report_ = report;
      progress_.best = value;
      progress_.best_loss = report.loss;
      progress_.best_step = progress_.step;
    }
    if (ranks_.first()) logs_.validation(report, "validation");
    observer_.validation(report);
    return report.best;
  }

  // The weights of now, which the last checkpoint has, become the folder's model. After that checkpoint: a model is
  // never there without one.
  void keep_best() {
    if (!ranks_.first()) return;
    folder_.check_held();
    const Courier::AtWork writing(ranks_);
    with_average([&] {
      write_model(folder_.path(), model_->config(), parameters_);
      return true;
    });
    point_at_checkpoint(folder_.checkpoints(), "best", last_saved_);
  }

  // Regular checkpoints ("step") come at the same steps whatever interrupts the run, so that their mean does too.
  void save(const char* kind) {
    returned_to_.reset();
    last_saved_ = checkpoint_name(progress_.step);
    if (std::string_view(kind) == "extra") last_saved_.replace(0, last_saved_.find('-'), "extra");
    if (!ranks_.first()) {  // rank 0 asks for these in this order
      for (const Moment moment : {Moment::mean, Moment::square}) updater_.moments()->gathered(moment);
      return;
    }
    folder_.check_held();
    const Courier::AtWork writing(ranks_);
    logs_.sync();
    write_checkpoint(folder_.checkpoints(), last_saved_, state());
    prune_checkpoints(folder_.checkpoints(), {.last = recipe_.checkpoint.keep, .names = regular_checkpoints()});
  }

  bool saved_now() const { return last_saved_.ends_with(checkpoint_name(progress_.step).substr(5)); }

  // The last regular ones that an average is made of.
  std::vector<std::string> regular_checkpoints() const {
    std::vector<std::string> names = list_checkpoints(folder_.checkpoints());
    std::erase_if(names, [&](const std::string& name) { return !name.starts_with("step-"); });
    const auto wanted = static_cast<size_t>(recipe_.checkpoint.average);
    if (names.size() > wanted) names.erase(names.begin(), names.end() - static_cast<ptrdiff_t>(wanted));
    return names;
  }

  std::string end() const { return reached_end(recipe_, progress_); }

  TrainingResult interrupted() {
    if (!saved_now() && weights_are_finite()) save("extra");
    TrainingResult result = this->result("interrupted");
    result.interrupted = true;
    return result;
  }

  TrainingResult finish(const std::string& why) {
    std::vector<fs::path> paths;
    if (ranks_.first())
      for (const std::string& name : regular_checkpoints()) paths.push_back(folder_.checkpoints() / name);
    const bool averaged = shared(recipe_.checkpoint.average > 0 && !paths.empty()) != 0;
    // The last weights may be the best. (Here only if the last checkpoint was made for another end than this one.)
    const bool looked = averaged || progress_.validated_step == progress_.step;
    const bool better = !looked && validate_now(false);
    if (!looked || !saved_now()) save(last_saved_.starts_with("step") && saved_now() ? "step" : "extra");
    if (better) keep_best();
    TrainingResult result = this->result(why);
    if (ranks_.first() && averaged)
      average_checkpoints(paths, parameters_);
    else if (ranks_.first())
      read_weights(SafetensorsFolder(folder_.path()), parameters_);
    ranks_.broadcast(std::as_writable_bytes(std::span(parameters_.data(), static_cast<size_t>(parameters_.size()))));
    result.final = !averaged && best_report_ ? *best_report_ : validate(*model_, recipe_, dataset_, ranks_);
    result.final.step = averaged ? progress_.step : progress_.best_step;
    result.final.epoch = progress_.position.epoch;
    if (!ranks_.first()) return result;
    const Courier::AtWork writing(ranks_);
    if (averaged) keep_mean(result.final);
    finished_ = {.steps = progress_.step, .why = why, .final = result.final};
    write_record();
    logs_.validation(result.final, "finished");
    return result;
  }

  // The mean becomes the folder's model, unless an earlier end has left a better one: then `final` is of the model that
  // stays.
  void keep_mean(ValidationReport& final) {
    const std::string& metric = recipe_.validation.metric;
    if (!standing_ || !is_better(metric_value(*standing_, metric), metric_value(final, metric), metric)) {
      folder_.check_held();
      return write_model(folder_.path(), model_->config(), parameters_);
    }
    observer_.note(fmt::format(
        "The mean of the last checkpoints (loss {:.4f}) is worse than the model of step {} (loss {:.4f}), which stays.",
        final.loss, standing_->step, standing_->loss));
    final = best_report_ ? *best_report_ : *standing_;
  }

  TrainingResult result(const std::string& why) const {
    return {.why = why,
            .steps = progress_.step,
            .seconds = progress_.seconds,
            .best_step = progress_.best_step,
            .best = progress_.best};
  }

  const Recipe& recipe_;
  RunFolder& folder_;
  TrainingObserver& observer_;
  const TrainingOptions& options_;
  Courier alone_;
  Courier& ranks_;
  Dataset dataset_;
  std::unique_ptr<Model> model_;
  Parameters parameters_;
  Updater updater_;
  SubwordSampling sampling_;
  Batches batches_;
  Task task_;
  int64_t steps_;
  std::shared_ptr<real> average_;  // moving average of the weights; none: not kept
  RunProgress progress_;
  std::optional<ValidationReport> best_report_;  // of this process
  Pace pace_;
  RunLogs logs_;  // of rank 0
  std::string last_saved_;
  std::optional<FinishedRun> finished_;       // the last end of the run, if it came to one
  std::optional<ValidationReport> standing_;  // of the model that this end has left, where the metric is the same
  std::optional<std::string>
      returned_to_;  // the checkpoint of the last rollback ("": the start) until another is written
};

}  // namespace

TrainingResult train(const Recipe& recipe, RunFolder& folder, TrainingObserver& observer,
                     const TrainingOptions& options) {
  if (options.ranks) check_shards(recipe, *options.ranks);
  if (!options.ranks || options.ranks->first()) check_model_is_kept(folder);
  return as_errors([&] { return Trainer(recipe, folder, observer, options).run(); });
}

}  // namespace limpid
