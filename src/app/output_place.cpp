#include "app/output_place.h"

#include "base/error.h"
#include "training/run_folder.h"

namespace limpid {

namespace fs = std::filesystem;

void check_output_place(const OutputPlace& place) {
  const std::string &command = place.command, out = place.out.string();
  std::error_code none;
  check(!fs::equivalent(place.from, place.out, none), "[{}] {} is the model itself: name another place", command, out);
  const bool is_folder = fs::is_directory(place.out, none);
  if (!is_folder && (!fs::exists(place.out, none) || fs::file_size(place.out, none) == 0)) return;
  check(place.folder || !is_folder, "[{}] {} is a folder: name the file to write, such as model.gguf", command, out);
  check(!place.folder || is_folder, "[{}] {} is a file: name a folder to write", command, out);
  if (is_folder && fs::is_empty(place.out, none)) return;
  check(!is_folder || (fs::exists(place.out / "config.json", none) && !is_run_folder(place.out)),
        "[{}] {} holds something else than a model: name a new or empty folder", command, out);
  check(place.force, "[{}] {} is there already: name another place, or replace it by --force", command, out);
}

}  // namespace limpid
