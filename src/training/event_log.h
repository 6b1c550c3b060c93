#pragma once
// EventLog: log.jsonl, one JSON object per line: what happened at which step. Every line is in the file when write()
// returns, whatever becomes of the process.

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "training/append_file.h"

namespace limpid {

class EventLog {
 public:
  // Opens or makes the file and cuts off what the run that starts now will write itself: everything from the first line
  // whose "step" is later than `step`, and a last line that a crash left unfinished. `step` is that of the checkpoint
  // the run goes on from; -1 for a run that starts from nothing, whose log then is empty.
  //
  // So that no line is lost or doubled, write a step's lines before its checkpoint.
  EventLog(const std::filesystem::path& path, int64_t step);

  // Appends one object, which must have a whole number "step". NaN and infinities become null. A line that does not fit
  // on the disk is an Error and leaves no part of itself.
  void write(const nlohmann::ordered_json& event);

  // Brings the lines to the disk, so that they survive a power cut too. Call before a checkpoint is written.
  void sync() { file_.sync(); }

  int64_t dropped() const { return dropped_; }  // lines cut off at the start, an unfinished one included

 private:
  AppendFile file_;
  int64_t dropped_ = 0;
};

// What stands in a line of the file; an empty object where that is none, as a line that a crash left unfinished.
nlohmann::json event_of_line(std::string_view line);

}  // namespace limpid
