#pragma once
// Vocabulary: the table of a tokenizer's pieces and their ids, and which of them stand for no text.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/tokenizer.h"

namespace limpid {

// What a special token is for, under the name that tokenizer_config.json has for it, and how it is usually spelt.
struct SpecialRole {
  int32_t SpecialIds::*id;
  std::string_view config_key;
  std::array<std::string_view, 4> names;  // the first in the vocabulary counts
};
std::span<const SpecialRole> special_roles();
bool is_special_name(std::string_view name);  // of any role

class Vocabulary {
 public:
  // Pieces in the order of their ids; an empty one is an id that nobody uses. `special` names those that stand for no
  // text; what each of them is for is told by its name, unless `roles` says so. `where` begins the message if something
  // is wrong.
  Vocabulary(std::vector<std::string> pieces, std::span<const std::string> special, std::string_view where,
             const SpecialIds& roles = {});

  int64_t size() const { return static_cast<int64_t>(pieces_.size()); }
  const std::vector<std::string>& pieces() const { return pieces_; }
  const SpecialIds& special() const { return special_; }
  bool is_special(int32_t id) const { return is_special_.at(static_cast<size_t>(id)); }

  int32_t find(std::string_view piece) const;       // -1: it is not there
  int32_t id_of_text(std::string_view text) const;  // never a special id but that of the unknown
  const std::string& piece(int32_t id) const;       // an id out of range is an Error

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  std::vector<std::string> pieces_;
  std::vector<bool> is_special_;
  std::unordered_map<std::string, int32_t, Hash, std::equal_to<>> ids_;
  SpecialIds special_;
};

}  // namespace limpid
