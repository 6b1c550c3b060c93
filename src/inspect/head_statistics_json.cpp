#include "inspect/head_statistics_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "inspect/csv.h"

namespace limpid {

using Json = nlohmann::ordered_json;

Json heads_json(const std::vector<HeadStatistics>& heads) {
  Json list = Json::array();
  const auto set = [](Json& to, const char* key, const std::optional<double>& value) {
    if (value) to[key] = *value;
  };
  for (const HeadStatistics& head : heads) {
    Json one = {
        {"attention", head.attention}, {"head", head.head}, {"queries", head.queries}, {"entropy", head.entropy}};
    set(one, "distance", head.distance);
    set(one, "previous", head.previous);
    set(one, "induction", head.induction);
    one["first"] = head.first;
    list.push_back(std::move(one));
  }
  return list;
}

std::string heads_csv(const std::vector<HeadStatistics>& heads) {
  const auto number = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.3f}", *value) : std::string();
  };
  std::string text = "attention,head,queries,entropy,distance,previous,induction,first\n";
  for (const HeadStatistics& head : heads)
    text += fmt::format("{},{},{},{},{},{},{},{}\n", csv_field(head.attention), head.head, head.queries, head.entropy,
                        number(head.distance), number(head.previous), number(head.induction), head.first);
  return text;
}

InductionOptions induction_options(const Session& session, InductionOptions options) {
  const SpecialIds special = session.reader().special();  // they stand at the beginning of a vocabulary, or behind
  const int32_t first = std::max({special.pad, special.end, special.unknown, special.begin, special.mask}) + 1;
  options.first_token = first < session.reader().size() / 2 ? std::max(first, 0) : 0;
  options.last_token = session.reader().size() - 1;
  options.before = session.loaded.tokenizers.before;
  return options;
}

}  // namespace limpid
