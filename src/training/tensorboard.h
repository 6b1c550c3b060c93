#pragma once
// TensorBoard event files: `tensorboard --logdir RUN` draws them. One file for each start of a run, as is the custom.
//
// A file is a row of TFRecords, each of which holds one Event (protobuf, tensorflow/core/util/event.proto):
//   8 bytes   length of the data, little-endian
//   4 bytes   masked CRC32C of the length
//   data
//   4 bytes   masked CRC32C of the data

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "training/append_file.h"

namespace limpid {

class TensorBoardWriter {
 public:
  // Begins a new file in the folder, which is made if there is none. `resumed_step`: the step of the checkpoint the run
  // goes on from; what earlier files have after it is then hidden by TensorBoard.
  explicit TensorBoardWriter(const std::filesystem::path& folder, std::optional<int64_t> resumed_step = std::nullopt);

  // A point of the curve named by the tag: "train/loss", "valid/bleu". It is in the file when the call returns.
  void scalar(std::string_view tag, int64_t step, double value);

  const std::filesystem::path& path() const { return file_.path(); }

 private:
  AppendFile file_;
};

}  // namespace limpid
