#include "models/parameter_table.h"

#include <fmt/format.h>

namespace limpid {
namespace {

// Names say it, not shapes: Marian's final_logits_bias has two dimensions, additive attention's v only one. The last
// part of a bias' name is "bias", "final_logits_bias", or of recurrent cells "bias_ih_l0".
bool is_bias(const Weight& weight) {
  const std::string_view name = std::string_view(weight.name).substr(weight.name.rfind('.') + 1);  // npos + 1 is 0
  return name.starts_with("bias") || name.ends_with("bias");
}

void count(ParameterTable& table, const Weight& weight) {
  if (!weight.trainable) return;
  ParameterTable::Count& part = table.parts[static_cast<size_t>(weight.role)];
  (is_bias(weight) ? part.biases : part.weights) += weight.size();
}

double share(int64_t count, int64_t total) {
  return total == 0 ? 0 : static_cast<double>(count) / static_cast<double>(total);
}

std::string line(std::string_view name, const ParameterTable::Count& count, int64_t total) {
  return fmt::format("{:<14}{:>20}{:>8.2f} %{:>20}{:>16}\n", name, with_separators(count.total()),
                     100 * share(count.total(), total), with_separators(count.weights), with_separators(count.biases));
}

}  // namespace

std::string_view part_name(ParameterRole role) {
  switch (role) {
    case ParameterRole::embedding: return "embedding";
    case ParameterRole::position: return "positions";
    case ParameterRole::attention: return "attention";
    case ParameterRole::feed_forward: return "feed-forward";
    case ParameterRole::norm: return "norms";
    case ParameterRole::recurrent: return "recurrent";
    case ParameterRole::output: return "output";
  }
  return "";
}

const ParameterTable::Count& ParameterTable::of(ParameterRole role) const { return parts[static_cast<size_t>(role)]; }

int64_t ParameterTable::total() const {
  int64_t sum = 0;
  for (const Count& part : parts) sum += part.total();
  return sum;
}

int64_t ParameterTable::matrices() const {
  int64_t sum = 0;
  for (const ParameterRole role : kParts)
    if (role != ParameterRole::norm && role != ParameterRole::position) sum += of(role).weights;
  return sum;
}

ParameterTable parameter_table(const Model& model) {
  ParameterTable table;
  model.each_parameter([&](const Weight& weight) { count(table, weight); });
  return table;
}

ParameterTable parameter_table(std::span<const Weight> weights) {
  ParameterTable table;
  for (const Weight& weight : weights) count(table, weight);
  return table;
}

std::string with_separators(int64_t count) {
  std::string text = std::to_string(count);
  const size_t first_digit = count < 0 ? 1 : 0;
  for (size_t place = text.size(); place > first_digit + 3;) text.insert(place -= 3, ",");
  return text;
}

std::string to_text(const ParameterTable& table) {
  std::string text =
      fmt::format("{:<14}{:>20}{:>10}{:>20}{:>16}\n", "part", "parameters", "share", "weights", "biases");
  ParameterTable::Count all;
  for (const ParameterRole role : kParts) {
    const ParameterTable::Count& count = table.of(role);
    all.weights += count.weights;
    all.biases += count.biases;
    if (count.total() > 0) text += line(part_name(role), count, table.total());
  }
  text += line("total", all, table.total());
  return text + fmt::format("without norms, positions and biases: {}\n", with_separators(table.matrices()));
}

nlohmann::ordered_json to_json(const ParameterTable& table) {
  nlohmann::ordered_json parts = nlohmann::ordered_json::array();
  for (const ParameterRole role : kParts) {
    const ParameterTable::Count& count = table.of(role);
    if (count.total() == 0) continue;
    parts.push_back({{"part", part_name(role)},
                     {"parameters", count.total()},
                     {"share", share(count.total(), table.total())},
                     {"weights", count.weights},
                     {"biases", count.biases}});
  }
  return {{"parameters", table.total()}, {"without_norms_positions_biases", table.matrices()}, {"parts", parts}};
}

}  // namespace limpid
