#include "training/checkpoint.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "formats/model_folder.h"
#include "formats/safetensors_writer.h"
#include "training/manifest.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

// A buffer laid out as the parameters are, and how its tensors are called in a file.
struct NamedBuffer {
  std::string prefix;
  std::function<real*()> data;  // asked when it is needed
  bool trainable_only = false;  // statistics lie behind its end
};

// Of an optimiser that has all running means itself.
class OwnMoments : public MomentStore {
 public:
  explicit OwnMoments(Optimizer& optimizer) : optimizer_(optimizer) {}
  real* gathered(Moment moment) override { return place(moment); }
  real* place(Moment moment) override {
    return (moment == Moment::mean ? optimizer_.means() : optimizer_.squares()).data();
  }
  void keep(Moment) override {}

 private:
  Optimizer& optimizer_;
};

constexpr std::pair<Moment, const char*> kMoments[] = {{Moment::mean, "m."}, {Moment::square, "v."}};

void write_buffers(const fs::path& path, const Parameters& parameters, std::span<const NamedBuffer> buffers) {
  std::vector<TensorToWrite> tensors;
  for (const NamedBuffer& buffer : buffers) {
    const auto data = std::make_shared<const real*>(nullptr);
    for (const Weight& weight : parameters.weights())
      if (weight.trainable || !buffer.trainable_only)
        tensors.push_back({.name = buffer.prefix + weight.name,
                           .type = kRealType,
                           .shape = weight.shape,
                           .fetch = [data, get = buffer.data, offset = weight.offset]() -> const void* {
                             if (*data == nullptr) *data = get();
                             return *data + offset;
                           }});
  }
  write_safetensors(path, tensors);
}

void write_moments(const fs::path& path, const Parameters& parameters, MomentStore& moments) {
  std::vector<NamedBuffer> buffers;
  for (const auto& [moment, prefix] : kMoments)
    buffers.push_back({prefix, [&moments, moment = moment] { return moments.gathered(moment); }, true});
  write_buffers(path, parameters, buffers);
}

const SafetensorsEntry& entry_of(const SafetensorsFile& file, const std::string& name, const Weight& weight) {
  const SafetensorsEntry& entry = file.get(name);
  check(entry.shape == weight.shape,
        "[checkpoint] {}: {} has shape [{}], the model's is [{}]: is it a checkpoint of another model?", file.path(),
        name, fmt::join(entry.shape, ", "), fmt::join(weight.shape, ", "));
  return entry;
}

void read_buffer(const SafetensorsFile& file, const Parameters& parameters, const NamedBuffer& buffer) {
  real* const data = buffer.data();
  for (const Weight& weight : parameters.weights())
    if (weight.trainable || !buffer.trainable_only)
      read_reals(entry_of(file, buffer.prefix + weight.name, weight), data + weight.offset);
}

void read_moments(const fs::path& path, const Parameters& parameters, MomentStore& moments) {
  const SafetensorsFile file(path);
  for (const auto& [moment, prefix] : kMoments) {
    read_buffer(file, parameters, {prefix, [&moments, moment = moment] { return moments.place(moment); }, true});
    moments.keep(moment);
  }
}

NamedBuffer average_of(const TrainingState& state) {
  return {"", [data = state.average.data()] { return data; }};
}

void copy_synced(const fs::path& from, const fs::path& to) {
  AtomicFile file(to);
  file.write(read_text(from));
  file.commit();
}

void write_files(const fs::path& folder, const TrainingState& state) {
  write_model(folder, *state.config, *state.parameters, kRealType);
  if (state.optimizer != nullptr) {
    OwnMoments own(*state.optimizer);
    write_moments(folder / "optimizer.safetensors", *state.parameters, state.moments ? *state.moments : own);
  }
  if (!state.average.empty()) {
    const NamedBuffer average = average_of(state);
    write_buffers(folder / "average.safetensors", *state.parameters, {&average, 1});
  }
  for (const fs::path& file : state.beside) copy_synced(file, folder / file.filename());
  nlohmann::ordered_json json;
  if (state.optimizer != nullptr) json["optimizer_steps"] = state.optimizer->steps();
  json["progress"] = state.progress;
  write_text(folder / "state.json", json.dump(2) + "\n");
  write_manifest(folder);
}

// The folder in which a checkpoint is put together; nothing of it remains unless it took its place.
class PartialFolder {
 public:
  explicit PartialFolder(fs::path path) : path_(std::move(path)) {
    remove();  // of an earlier attempt of this process
    make_inner_folder(path_.parent_path());
    make_inner_folder(path_);
  }
  PartialFolder(const PartialFolder&) = delete;
  PartialFolder& operator=(const PartialFolder&) = delete;
  ~PartialFolder() { remove(); }
  const fs::path& path() const { return path_; }

 private:
  void remove() {
    std::error_code ignored;  // what remains is taken away at the next start
    fs::remove_all(path_, ignored);
  }
  fs::path path_;
};

// The names to try, the best first.
std::vector<std::string> candidates_of(const fs::path& checkpoints, const std::optional<std::string>& last) {
  std::vector<std::string> names = list_checkpoints(checkpoints);
  const auto found = last ? std::find(names.begin(), names.end(), *last) : names.end();
  const auto end = found == names.end() ? found : found + 1;  // before it: from "last" back; behind it: later ones
  std::reverse(names.begin(), end);
  std::reverse(end, names.end());
  return names;
}

// A number that JSON cannot say would come back as null and the checkpoint could not be gone on from.
void check_finite(const nlohmann::ordered_json& value, const std::string& name) {
  check(!value.is_number_float() || std::isfinite(value.get<double>()),
        "[checkpoint] {} is infinite or no number, which JSON cannot say: keep a finite one", name);
  if (value.is_structured())
    for (const auto& [key, part] : value.items()) check_finite(part, fmt::format("{}.{}", name, key));
}

void check_state(const TrainingState& state) {
  check(state.parameters != nullptr, "[checkpoint] the state has no parameters");
  check(state.average.empty() || static_cast<int64_t>(state.average.size()) == state.parameters->size(),
        "[checkpoint] the average has {} numbers, the parameters {}: give it their layout", state.average.size(),
        state.parameters->size());
}

void read_state(const fs::path& path, TrainingState& state) {
  const nlohmann::ordered_json checked = parse_ordered_json(read_text(path), "[checkpoint] " + path.string());
  const bool whole = checked.is_object() && checked.contains("progress") &&
                     (state.optimizer == nullptr ||
                      (checked.contains("optimizer_steps") && checked["optimizer_steps"].is_number_integer()));
  check(whole, "[checkpoint] {}: has no progress or no steps of an optimiser: is it a training checkpoint?", path);
  if (state.optimizer != nullptr) state.optimizer->set_steps(checked["optimizer_steps"].get<int64_t>());
  state.progress = checked["progress"];
}

}  // namespace

fs::path write_checkpoint(const fs::path& checkpoints, const std::string& name, const TrainingState& state) {
  check_state(state);
  check(state.config != nullptr, "[checkpoint] the state has no config to write");
  check_finite(state.progress, "progress");
  fs::path place = checkpoints / name;
  try {
    const PartialFolder partial(partial_path(checkpoints, name));
    write_files(partial.path(), state);
    put_in_place(partial.path(), place);
    point_at_checkpoint(checkpoints, "last", name);
  } catch (const Error& error) {
    const auto last = checkpoint_pointed_at(checkpoints, "last");
    fail("[checkpoint] {} could not be written{}: {}", place.string(),
         last ? fmt::format(" (the last one that is good: {})", *last) : "", error.what());
  }
  return place;
}

void verify_checkpoint(const fs::path& checkpoint) { verify_manifest(checkpoint); }

void read_checkpoint(const fs::path& checkpoint, TrainingState& state) {
  check_state(state);
  verify_checkpoint(checkpoint);
  read_weights(SafetensorsFolder(checkpoint), *state.parameters);
  if (state.optimizer != nullptr) {
    OwnMoments own(*state.optimizer);
    read_moments(checkpoint / "optimizer.safetensors", *state.parameters, state.moments ? *state.moments : own);
  }
  if (!state.average.empty()) {
    const fs::path file = checkpoint / "average.safetensors";
    std::error_code ignored;
    if (fs::exists(file, ignored))
      read_buffer(SafetensorsFile(file), *state.parameters, average_of(state));
    else
      std::copy_n(state.parameters->data(), state.average.size(), state.average.data());
  }
  read_state(checkpoint / "state.json", state);
}

std::optional<ResumedCheckpoint> read_last_checkpoint(const fs::path& checkpoints, TrainingState& state) {
  ResumedCheckpoint resumed;
  const auto last = checkpoint_pointed_at(checkpoints, "last");
  const std::vector<std::string> names = candidates_of(checkpoints, last);
  if (names.empty()) return std::nullopt;
  // No pointer at all is what a kill right after the first checkpoint leaves: nothing to tell.
  std::error_code ignored;
  if (fs::exists(checkpoints / "last", ignored) && (!last || names.front() != *last))
    resumed.notes.push_back(fmt::format("[checkpoint] {}: {}; looking for the newest good checkpoint",
                                        (checkpoints / "last").string(),
                                        last ? "names " + *last + ", which is not there" : "names no checkpoint"));
  for (const std::string& name : names) {
    try {
      verify_checkpoint(checkpoints / name);
    } catch (const Error& error) {
      resumed.notes.emplace_back(error.what());
      continue;
    }
    read_checkpoint(checkpoints / name, state);
    resumed.name = name;
    return resumed;
  }
  fail("[checkpoint] {}: none of the {} checkpoints is good: start a new run. {}", checkpoints.string(), names.size(),
       fmt::join(resumed.notes, "; "));
}

void average_checkpoints(std::span<const fs::path> checkpoints, Parameters& parameters) {
  check(!checkpoints.empty(), "[checkpoint] there is nothing to average: name at least one checkpoint");
  std::vector<SafetensorsFile> files;
  files.reserve(checkpoints.size());
  for (const fs::path& checkpoint : checkpoints) {
    std::error_code ignored;
    if (fs::exists(checkpoint / "manifest.json", ignored)) verify_checkpoint(checkpoint);
    files.emplace_back(checkpoint / "model.safetensors");
  }
  std::vector<double> sum;
  std::vector<real> numbers;
  for (const Weight& weight : parameters.weights()) {
    sum.assign(weight.size(), 0);
    numbers.resize(weight.size());
    for (const SafetensorsFile& file : files) {
      read_reals(entry_of(file, weight.name, weight), numbers.data());
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(numbers[i]);
    }
    real* const mean = parameters.data(weight);
    for (size_t i = 0; i < sum.size(); ++i) mean[i] = static_cast<real>(sum[i] / static_cast<double>(files.size()));
  }
}

}  // namespace limpid
