#include "app/run_recorder.h"

#include <memory>
#include <optional>

#include "base/error.h"
#include "inspect/run_recording.h"

namespace limpid {

std::function<void(const Model&, const Dataset&, int64_t)> run_recorder(std::filesystem::path folder) {
  auto recording = std::make_shared<std::optional<RunRecording>>();
  return [recording, folder = std::move(folder)](const Model& model, const Dataset& dataset, int64_t step) {
    if (!dataset.valid) return;
    try {
      if (!*recording) recording->emplace(folder, *dataset.valid);
      (*recording)->record(model, dataset.tokenizers, step);
    } catch (const Error&) {
      // The checkpoint, which matters more, says what is wrong with the disk.
    }
  };
}

}  // namespace limpid
