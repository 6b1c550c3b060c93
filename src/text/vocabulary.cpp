#include "text/vocabulary.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace limpid {
namespace {

constexpr std::array<SpecialRole, 5> kRoles = {{
    {&SpecialIds::pad, "pad_token", {"<pad>", "[PAD]"}},
    {&SpecialIds::end, "eos_token", {"</s>", "[SEP]", "<eos>", "<|endoftext|>"}},
    {&SpecialIds::unknown, "unk_token", {"<unk>", "[UNK]"}},
    {&SpecialIds::begin, "bos_token", {"<s>", "[CLS]", "<bos>"}},
    {&SpecialIds::mask, "mask_token", {"<mask>", "[MASK]"}},
}};

}  // namespace

std::span<const SpecialRole> special_roles() { return kRoles; }

bool is_special_name(std::string_view name) {
  return !name.empty() && std::any_of(kRoles.begin(), kRoles.end(), [&](const SpecialRole& role) {
    return std::find(role.names.begin(), role.names.end(), name) != role.names.end();
  });
}

Vocabulary::Vocabulary(std::vector<std::string> pieces, std::span<const std::string> special, std::string_view where,
                       const SpecialIds& roles)
    : pieces_(std::move(pieces)), is_special_(pieces_.size()), special_(roles) {
  ids_.reserve(pieces_.size());
  for (size_t id = 0; id < pieces_.size(); ++id) {
    if (pieces_[id].empty()) continue;
    const bool fresh = ids_.emplace(pieces_[id], static_cast<int32_t>(id)).second;
    check(fresh, "{}: has the token \"{}\" twice: give each token one id", where, pieces_[id]);
  }
  for (const std::string& name : special) {
    const int32_t id = find(name);
    check(id >= 0, "{}: names the special token \"{}\", which has no id: add it to the vocabulary", where, name);
    is_special_[static_cast<size_t>(id)] = true;
  }
  for (const SpecialRole& role : kRoles) {
    const int32_t given = roles.*role.id;
    check(given >= -1 && given < size(), "{}: its {} has the id {}, beyond the {} tokens: damaged file?", where,
          role.config_key, given, size());
    if (given >= 0) is_special_[static_cast<size_t>(given)] = true;
    for (const std::string_view name : role.names) {
      const int32_t id = name.empty() ? -1 : find(name);
      if (special_.*role.id < 0 && id >= 0 && is_special(id)) special_.*role.id = id;
    }
  }
}

int32_t Vocabulary::find(std::string_view piece) const {
  const auto found = ids_.find(piece);
  return found == ids_.end() ? -1 : found->second;
}

int32_t Vocabulary::id_of_text(std::string_view text) const {
  const int32_t id = find(text);
  return id < 0 || is_special(id) ? special_.unknown : id;
}

const std::string& Vocabulary::piece(int32_t id) const {
  check(id >= 0 && id < size(), "[tokenizer] id {} is not in the vocabulary of {}: is this the model's own tokenizer?",
        id, size());
  return pieces_[static_cast<size_t>(id)];
}

}  // namespace limpid
