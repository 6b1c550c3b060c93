// limpid look … beam: beam search as a tree, with every candidate's score.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "app/look.h"
#include "base/error.h"
#include "inspect/beam_tree.h"
#include "inspect/csv.h"
#include "inspect/display_text.h"

namespace limpid {
namespace {

struct BeamCommand {
  int64_t beam = 4, most = 40;
  double penalty = 1;
  bool dropped = false;
};

// One line per step: the beginnings that were kept, best first, each with its log-probability.
std::string tree_text(const Session& session, const BeamTree& tree, bool dropped) {
  std::string text;
  int64_t deepest = 0;
  for (const BeamNode& node : tree.nodes) deepest = std::max(deepest, node.step);
  for (int64_t step = 1; step <= deepest; ++step) {
    text += fmt::format("step {}\n", step);
    std::vector<const BeamNode*> nodes;
    for (const BeamNode& node : tree.nodes)
      if (node.step == step && (dropped || node.state != BeamNode::State::dropped)) nodes.push_back(&node);
    std::stable_sort(nodes.begin(), nodes.end(),
                     [](const BeamNode* a, const BeamNode* b) { return a->log_probability > b->log_probability; });
    for (const BeamNode* node : nodes)
      text += fmt::format(
          "  {:9.4f}  {:6.2f} %  {} … {}{}\n", node->log_probability, 100 * std::exp(node->token_log_probability),
          visible(node->parent > 0 ? session.piece(tree.nodes[node->parent].id) : ""), visible(session.piece(node->id)),
          node->state == BeamNode::State::finished  ? "  (finished)"
          : node->state == BeamNode::State::dropped ? "  (dropped)"
                                                    : "");
  }
  text += "found\n";
  for (const BeamTree::Found& one : tree.found)
    text += fmt::format("  {:9.4f}  {}\n", one.hypothesis.score, session.writer().decode(one.hypothesis.ids));
  return text;
}

std::string tree_csv(const Session& session, const BeamTree& tree) {
  std::string text = "node,parent,step,token,log_probability,probability\n";
  for (size_t i = 1; i < tree.nodes.size(); ++i) {
    const BeamNode& node = tree.nodes[i];
    text += fmt::format("{},{},{},{},{},{}\n", i, node.parent, node.step, csv_field(session.piece(node.id)),
                        node.log_probability, std::exp(node.token_log_probability));
  }
  return text;
}

void show_beam(const LookOptions& options, const BeamCommand& command) {
  const Session session = open_model(options);
  check(session.config().writes(), "[look] this model writes nothing: it has no beam");
  const BeamTreeOptions search{.search = {.beam = command.beam,
                                          .length_penalty = command.penalty,
                                          .max_tokens = command.most,
                                          .ends = ends_of(session)},
                               .rules = session.loaded.generation.rules};
  const BeamTree tree = grow_beam(session.model(), read_example(session, options), search);
  write_result(options, {.shown = [&] { return tree_text(session, tree, command.dropped); },
                         .csv = [&] { return tree_csv(session, tree); },
                         .svg = {},
                         .json = [&] { return beam_json(session.writer(), tree, search); }});
}

}  // namespace

LookPart add_look_beam(CLI::App& look, LookOptions& options) {
  CLI::App* part = look.add_subcommand(
      "beam", "Beam search as a tree: which beginnings were kept at each step, and with what scores.");
  auto command = std::make_shared<BeamCommand>();
  add_text_options(*part, options);
  part->add_option("--beam", command->beam, "beginnings kept at each step")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  part->add_option("--length-penalty", command->penalty,
                   "a text is scored by its log-probability divided by its length to this power")
      ->capture_default_str();
  part->add_option("--max-tokens", command->most, "at most so many tokens")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  part->add_flag("--dropped", command->dropped, "also the candidates that were dropped");
  add_result_options(*part, options, false);
  return {part, [&options, command] { show_beam(options, *command); }};
}

}  // namespace limpid
