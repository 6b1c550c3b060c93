#include "text/storable_tokenizer.h"

namespace limpid {

std::vector<int32_t> StorableTokenizer::encode_with_special(std::string_view text) const {
  AddedTokens special;
  for (int32_t id = 0; id < vocabulary().size(); ++id) {
    if (!vocabulary().is_special(id)) continue;
    const auto rules = special_rules_.find(id);
    special.add(vocabulary().piece(id), id, rules == special_rules_.end() ? AddedTokens::Rules{} : rules->second);
  }
  std::vector<int32_t> ids;
  special.each(
      text,
      [&](std::string_view part) {
        const std::vector<int32_t> more = encode(part);
        ids.insert(ids.end(), more.begin(), more.end());
      },
      [&](int32_t id) { ids.push_back(id); });
  return ids;
}

}  // namespace limpid
