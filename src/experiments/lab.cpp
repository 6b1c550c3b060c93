#include "experiments/lab.h"

#include <fmt/format.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <optional>

#include "base/checksum.h"
#include "base/error.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/random.h"
#include "experiments/processor_time.h"
#include "formats/model_folder.h"
#include "training/trainer.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

// Passes on how far a training is, and says when it should stop.
class LabObserver : public TrainingObserver {
 public:
  explicit LabObserver(Lab& lab) : lab_(lab) {}
  void preparing(const std::string&, double) override { say(0, "reading texts"); }
  void starting(const Dataset&, const Config&, int64_t, int64_t) override {}
  void step(const StepReport& report) override {
    if (report.steps > 0)
      say(static_cast<double>(report.step) / static_cast<double>(report.steps),
          fmt::format("step {}, loss {:.3f}", report.step, report.loss));
  }
  void validation(const ValidationReport&) override {}
  void note(const std::string&) override {}
  bool stopped() const { return stopped_; }

 private:
  // The trainer saves and returns when it is asked to stop; nothing may be thrown through it.
  void say(double share, const std::string& what) {
    try {
      lab_.progress(share, what);
    } catch (const Error&) {
      stopped_ = true;
    }
  }

  Lab& lab_;
  bool stopped_ = false;
};

// Several units may need the same texts or the same model at the same time: the first makes it, the others wait.
std::unique_lock<std::mutex> only_one(const fs::path& folder) {
  static std::mutex all;
  static std::map<std::string, std::mutex> each;
  const std::lock_guard lock(all);
  std::mutex& mine = each[folder.string()];
  return std::unique_lock(mine, std::defer_lock);
}

LabModel model_of(const Json& json, fs::path folder) {
  return {.folder = std::move(folder),
          .loss = json.at("loss"),
          .exact = json.at("exact"),
          .bleu = json.at("bleu"),
          .processor_seconds = json.at("processor_seconds"),
          .steps = json.at("steps")};
}

// The model that an earlier unit has trained; a damaged note of it is as good as none: the run itself says that it has
// finished.
std::optional<LabModel> kept_model(const fs::path& folder, const fs::path& note) {
  if (!path_exists(note)) return std::nullopt;
  const Json json = Json::parse(read_text(note), nullptr, false);
  for (const char* key : {"loss", "exact", "bleu", "processor_seconds", "steps"})
    if (!json.is_object() || !json.contains(key) || !json[key].is_number()) return std::nullopt;
  return model_of(json, folder);
}

}  // namespace

void Lab::progress(double share, const std::string& what) {
  if (options_.progress && !options_.progress(from_ + share * (to_ - from_), what))
    fail(ErrorKind::cancelled, "[experiment] stopped: the same command goes on from there");
}

fs::path Lab::corpus(const LabCorpus& corpus) const {
  const fs::path folder = options_.folder / "data" / hash_text(content_hash(corpus.key));
  auto lock = only_one(folder);
  lock.lock();
  if (path_exists(folder)) return folder;
  const fs::path draft = folder.string() + fmt::format(".{}", ::getpid());
  remove_path(draft);
  make_folder(draft);
  corpus.write(draft);
  move_path(draft, folder);
  return folder;
}

uint64_t Lab::training_seed() const {
  constexpr int kShort = 33;  // 31 bits are left: a number that a recipe still shows
  return instead_of_.empty() ? seed() : random_key(seed(), 0, content_hash(instead_of_)) >> kShort;
}

LabModel Lab::train(const std::string& recipe, const std::vector<std::string>& overrides, const LabCorpus& texts) {
  std::string key = recipe + "\n" + texts.key + fmt::format("\nseed {}", training_seed());
  for (const std::string& text : overrides) key += "\n" + text;
  const fs::path folder = options_.folder / "models" / hash_text(content_hash(key));
  const fs::path done = folder / "experiment.json";
  auto lock = only_one(folder);
  lock.lock();
  if (std::optional<LabModel> kept = kept_model(folder, done)) return *std::move(kept);
  std::vector<std::string> all = overrides;
  all.push_back(fmt::format("seed={}", training_seed()));
  all.push_back(fmt::format("data.folder=\"{}\"", absolute_path(corpus(texts)).string()));
  RunFolder run(folder);
  LabObserver observer(*this);
  const double before = processor_time(options_.beside_others);
  const TrainingResult result = limpid::train(parse_recipe(recipe, "experiment", all), run, observer,
                                              {.command = "limpid experiment",
                                               .interrupted = [&] { return observer.stopped(); },
                                               .accept_changes = [](const auto&) { return true; }});
  if (result.interrupted) fail(ErrorKind::cancelled, "[experiment] stopped: the same command goes on from there");
  const Json json = {{"loss", result.final.loss},
                     {"exact", result.final.exact.value_or(0)},
                     {"bleu", result.final.bleu.value_or(0)},
                     {"processor_seconds", processor_time(options_.beside_others) - before},
                     {"steps", result.steps},
                     {"key", key}};
  write_text(done, json.dump(1));
  return model_of(json, folder);
}

}  // namespace limpid
