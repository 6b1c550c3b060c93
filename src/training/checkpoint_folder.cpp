#include "training/checkpoint_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/file.h"
#include "base/paths.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPartial = ".partial-", kReplaced = ".replaced";

bool is_unfinished(std::string_view name) { return name.find(kPartial) != name.npos || name.ends_with(kReplaced); }

// A file that base/file.h was writing when the process was killed.
bool is_unfinished_file(std::string_view name) { return name.starts_with(".limpid-") && name.ends_with(".part"); }

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() < 200 && name.front() != '.' && !is_unfinished(name) && name != "last" &&
         name != "best" &&
         std::none_of(name.begin(), name.end(), [](char c) { return c == '/' || (c >= 0 && c < ' '); });
}

// The number a name ends in; -1 for none.
int64_t number_of(std::string_view name) {
  const size_t begin = name.find_last_not_of("0123456789") + 1;  // npos + 1 is 0
  int64_t number = -1;
  std::from_chars(name.data() + begin, name.data() + name.size(), number);
  return number;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::path& path : paths_in(folder)) names.push_back(path.filename().string());
  return names;
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::symlink_status(path, ignored).type() != fs::file_type::not_found;
}

// Names are on the disk only when their folder is. Some file systems cannot say; a real fault is EIO.
void sync_folder(const fs::path& path) {
  const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.open() && ::fsync(folder.get()) != 0 && errno == EIO)
    fail(ErrorKind::io, "[checkpoint] {}: cannot be brought to the disk: is the disk in order?", path.string());
}

}  // namespace

std::string checkpoint_name(int64_t step) { return fmt::format("step-{:09}", step); }

std::vector<std::string> list_checkpoints(const fs::path& checkpoints) {
  std::vector<std::string> names = names_in(checkpoints);
  std::erase_if(names, [&](const std::string& name) {
    std::error_code ignored;
    return !is_plain_name(name) || !fs::is_directory(checkpoints / name, ignored);
  });
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return std::pair(number_of(a), a) < std::pair(number_of(b), b);
  });
  return names;
}

std::optional<std::string> checkpoint_pointed_at(const fs::path& checkpoints, std::string_view pointer) {
  const fs::path path = checkpoints / pointer;
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  std::string name = read_text(path);
  while (!name.empty() && (name.back() == '\n' || name.back() == '\r' || name.back() == ' ')) name.pop_back();
  if (!is_plain_name(name)) return std::nullopt;
  return name;
}

void point_at_checkpoint(const fs::path& checkpoints, std::string_view pointer, std::string_view name) {
  check(
      is_plain_name(name) && is_there(checkpoints / name), "[checkpoint] {}: there is no checkpoint {} to point at",
      [&] { return (checkpoints / pointer).string(); }, name);
  write_text(checkpoints / pointer, fmt::format("{}\n", name));
}

fs::path partial_path(const fs::path& checkpoints, std::string_view name) {
  check(is_plain_name(name), "[checkpoint] \"{}\" cannot be the name of a checkpoint: take letters, digits and -",
        name);
  return checkpoints / fmt::format("{}{}{}", name, kPartial, ::getpid());
}

void put_in_place(const fs::path& partial, const fs::path& checkpoint) {
  const fs::path folder = checkpoint.parent_path(), former = checkpoint.string() + std::string(kReplaced);
  const bool replaces = is_there(checkpoint);
  if (replaces) {
    remove_path(former);  // of an earlier attempt; the checkpoint itself is there, so nothing is lost
    move_path(checkpoint, former);
  }
  try {
    move_path(partial, checkpoint);
  } catch (const Error&) {
    if (replaces) move_path(former, checkpoint);
    throw;
  }
  sync_folder(folder);
  if (replaces) remove_path(former);
}

void remove_unfinished(const fs::path& checkpoints) {
  for (const std::string& name : names_in(checkpoints)) {
    const fs::path path = checkpoints / name;
    const fs::path original = checkpoints / name.substr(0, name.size() - std::min(name.size(), kReplaced.size()));
    if (name.ends_with(kReplaced) && !is_there(original))
      move_path(path, original);  // killed before the new one was in place: the former one stands
    else if (is_unfinished(name) || is_unfinished_file(name))
      remove_path(path);
  }
}

std::vector<std::string> prune_checkpoints(const fs::path& checkpoints, const KeepCheckpoints& keep) {
  const auto last = checkpoint_pointed_at(checkpoints, "last"), best = checkpoint_pointed_at(checkpoints, "best");
  std::vector<std::string> names = list_checkpoints(checkpoints);
  std::erase_if(names, [&](const std::string& name) {
    const int64_t number = number_of(name);
    return number < 0 || (last && number > number_of(*last));
  });
  names.resize(static_cast<size_t>(std::max<int64_t>(0, static_cast<int64_t>(names.size()) - keep.last)));
  std::erase_if(names, [&](const std::string& name) {
    return name == last || name == best || std::find(keep.names.begin(), keep.names.end(), name) != keep.names.end();
  });
  for (const std::string& name : names) {
    const fs::path aside = partial_path(checkpoints, name);
    remove_path(aside);
    move_path(checkpoints / name, aside);
    remove_path(aside);
  }
  return names;
}

}  // namespace limpid
