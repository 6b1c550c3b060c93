#include "inspect/effect_json.h"

#include <nlohmann/json.hpp>

namespace limpid {

using Json = nlohmann::ordered_json;

Json effect_json(const Session& session, const Example& example, const Effect& effect, int64_t position) {
  Json tokens = Json::array(), positions = Json::array();
  for (const TokenEffect& token : effect.tokens)
    tokens.push_back({{"token", session.piece(token.token)},
                      {"id", token.token},
                      {"logit_before", token.logit_before},
                      {"logit_after", token.logit_after},
                      {"logit_change", token.logit_change()},
                      {"probability_before", token.probability_before},
                      {"probability_after", token.probability_after}});
  for (const PositionEffect& one : effect.positions)
    positions.push_back({{"position", one.position},
                         {"token", example.input[one.position]},
                         {"kl", one.divergence},
                         {"top_before", session.piece(one.top_before)},
                         {"top_after", session.piece(one.top_after)}});
  return {{"position", position}, {"tokens", tokens}, {"positions", positions}, {"same_bits", effect.same_bits}};
}

}  // namespace limpid
