#pragma once
// Checkpoints: everything a run needs to go on as if it had never stopped, bit for bit.
//
//   model.safetensors, config.json    the weights as a model's folder has them, so that a checkpoint is itself a model
//   optimizer.safetensors             "m.NAME" and "v.NAME": running means of a weight's gradient and of its square
//   average.safetensors               the moving average of the weights, if the run keeps one
//   state.json                        the optimiser's steps and the trainer's progress
//   manifest.json                     size and checksum of each file
//
// A checkpoint is written aside, brought to the disk and renamed into place: a crash or a full disk at any moment
// leaves the earlier ones as they were.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "autograd/parameters.h"
#include "models/config.h"
#include "training/checkpoint_folder.h"
#include "training/optimizer.h"

namespace limpid {

// The running means of an optimiser, of gradients (mean) and of their squares (square), in the layout of the trainable
// parameters, one kind at a time: an optimiser that is spread over ranks has them nowhere together.
enum class Moment { mean, square };
class MomentStore {
 public:
  virtual ~MomentStore() = default;
  virtual real* gathered(Moment moment) = 0;  // all numbers, until the next call
  virtual real* place(Moment moment) = 0;     // for numbers to be read into, which keep() then takes
  virtual void keep(Moment moment) = 0;
};

// Points at the run's own buffers, which are written from and read into.
struct TrainingState {
  const Config* config = nullptr;  // for writing
  Parameters* parameters = nullptr;
  Optimizer* optimizer = nullptr;                  // none: neither written nor read
  MomentStore* moments = nullptr;                  // where its running means come from and go; none: its own
  std::span<real> average = {};                    // the moving average in the layout of the parameters; empty: none
  std::vector<std::filesystem::path> beside = {};  // files to copy beside the weights, such as a tokenizer's
  // The trainer's own: step, epoch, place in the data, best score, ... Whole numbers and doubles come back exactly;
  // JSON knows no infinity and no NaN, so these are an Error.
  nlohmann::ordered_json progress = {};
};

// Writes checkpoints/NAME, in the place of one of that name if there is, and lets "last" point at it. Makes the folder
// `checkpoints` if need be. Returns the checkpoint's path. On failure an Error; what was written so far is removed.
std::filesystem::path write_checkpoint(const std::filesystem::path& checkpoints, const std::string& name,
                                       const TrainingState& state);

// Throws an Error that says what is wrong unless every file is there with the size and checksum of the manifest.
void verify_checkpoint(const std::filesystem::path& checkpoint);

// Verifies a checkpoint and reads it into the state. The model must be of the same shape. An average is read if the
// checkpoint has one; else it starts from the weights.
void read_checkpoint(const std::filesystem::path& checkpoint, TrainingState& state);

struct ResumedCheckpoint {
  std::string name;
  std::vector<std::string> notes;  // for the user: which checkpoints were damaged and passed over, and why
};

// Reads the one that "last" names; if it is damaged, the newest good one before it, else the newest good one of all.
// Nothing if there are no checkpoints; an Error if there are and none is good.
std::optional<ResumedCheckpoint> read_last_checkpoint(const std::filesystem::path& checkpoints, TrainingState& state);

// The mean, taken in double, of the weights of several checkpoints (or model folders), into `parameters`.
void average_checkpoints(std::span<const std::filesystem::path> checkpoints, Parameters& parameters);

}  // namespace limpid
