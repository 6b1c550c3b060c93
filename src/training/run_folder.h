#pragma once
// RunFolder: where one training run keeps everything, and the lock that keeps a second run out of it.
//
//   lock            locked while a run works here; says which process
//   checkpoints/    training/checkpoint.h
//   log.jsonl       training/event_log.h
//   tensorboard/    training/tensorboard.h
//
// What else lies there (the recipe, the finished model) is the trainer's.

#include <filesystem>
#include <string>

namespace limpid {

class RunFolder {
 public:
  // Makes the folder where there is none, or opens that of an earlier run, and locks it until the end of this object
  // or of the process, however it ends. A folder that holds something else than a run, one that cannot be written, and
  // one that another run works in are Errors; the last names its process.
  explicit RunFolder(std::filesystem::path path);
  // The folder as a process sees it that only reads there, while another one of the same run has locked it.
  static RunFolder of_other_process(std::filesystem::path path);
  RunFolder(RunFolder&& other) noexcept;
  RunFolder& operator=(RunFolder&& other) noexcept;
  ~RunFolder();

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  std::filesystem::path log() const { return path_ / "log.jsonl"; }
  std::filesystem::path tensorboard() const { return path_ / "tensorboard"; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

  // An Error once the folder has been moved or its lock removed, so that another run could be at work in it. Asked
  // before anything is written.
  void check_held() const;

  // Whether an earlier run has been here and has left a checkpoint to go on from.
  bool has_checkpoint() const;

 private:
  RunFolder() = default;

  std::filesystem::path path_;
  int lock_ = -1;  // a file descriptor; -1: another process holds it
};

// Whether the folder is that of a run: reads only, needs no lock.
bool is_run_folder(const std::filesystem::path& path);

}  // namespace limpid
