#pragma once
// The folder `checkpoints` of a run: which there are, which is the last and the best, and which to keep.
//
//   checkpoints/
//     step-000001000/           a checkpoint, complete under this name or not there at all
//     last, best                small texts that each name one
//     NAME.partial-*            being written or removed when the run was killed: remove_unfinished() takes them away
//     NAME.replaced             the former NAME while a new one takes its place

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace limpid {

// "step-000001000". Names that end in a number are in the order of those numbers, whatever the zeros.
std::string checkpoint_name(int64_t step);

// The names of the complete checkpoints, oldest first, those without a number before all others.
std::vector<std::string> list_checkpoints(const std::filesystem::path& checkpoints);

// What a pointer ("last", "best") names, if the pointer is there and well formed. Setting one is atomic.
std::optional<std::string> checkpoint_pointed_at(const std::filesystem::path& checkpoints, std::string_view pointer);
void point_at_checkpoint(const std::filesystem::path& checkpoints, std::string_view pointer, std::string_view name);

// Where a checkpoint is put together, and the step that makes it one: it takes its name whole, in the place of an older
// one of that name if there is.
std::filesystem::path partial_path(const std::filesystem::path& checkpoints, std::string_view name);
void put_in_place(const std::filesystem::path& partial, const std::filesystem::path& checkpoint);

// Takes away what a killed run left half written or half removed. For the run that holds the lock, at its start.
void remove_unfinished(const std::filesystem::path& checkpoints);

struct KeepCheckpoints {
  int64_t last = 3;                // as many of the newest
  std::vector<std::string> names;  // and these; those that "last" and "best" point at are kept in any case
};

// Removes all others whose name ends in a number; checkpoints later than "last" are left alone. Returns the names of
// the removed. A checkpoint being removed is never seen incomplete.
std::vector<std::string> prune_checkpoints(const std::filesystem::path& checkpoints, const KeepCheckpoints& keep);

}  // namespace limpid
