#include "inspect/beam_tree.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "inspect/continuations.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

const char* name_of(BeamNode::State state) {
  constexpr const char* kNames[] = {"kept", "dropped", "finished", "open"};
  return kNames[static_cast<size_t>(state)];
}

// The likeliest tokens of each branch, by the rules of the model's files.
TopTokens likeliest_of(const Config& config, const Continuations& text, ConstMatrix scores,
                       const BeamTreeOptions& options) {
  TopOptions wanted{.count = BeamSearch::candidates(options.search.beam)};
  for (const auto& token : {config.pad_token, config.decoder_start_token}) {
    const auto id = static_cast<int32_t>(token.value_or(-1));
    if (token && !std::count(options.search.ends.begin(), options.search.ends.end(), id)) wanted.never.push_back(id);
  }
  TopTokens all{.count = wanted.count, .best = {}};
  for (int64_t row = 0; row < scores.rows; ++row) {
    std::vector<int32_t> ids = options.prefix;
    ids.insert(ids.end(), text.written(row).begin(), text.written(row).end());
    TopOptions top = wanted;
    for (const int32_t id : forbidden_next(options.rules, {ids, std::ssize(ids)})) top.never.push_back(id);
    const TopTokens best = top_tokens({scores.row(row), 1, scores.cols}, top);
    all.best.insert(all.best.end(), best.best.begin(), best.best.end());
  }
  return all;
}

}  // namespace

std::vector<int32_t> ends_of(const Session& session) {
  std::vector<int32_t> ends = session.loaded.generation.rules.ends;
  if (ends.empty() && session.config().eos_token) ends.push_back(static_cast<int32_t>(*session.config().eos_token));
  if (ends.empty() && session.writer().special().end >= 0) ends.push_back(session.writer().special().end);
  return ends;
}

BeamTree grow_beam(const Model& model, const Example& example, const BeamTreeOptions& options) {
  check(options.search.beam >= 1 && options.search.beam <= 64 && options.search.beam <= model.config().vocab,
        "[beam] a beam of {}: it is 1 to 64", options.search.beam);
  check(options.search.max_tokens >= 1, "[beam] at most {} tokens: it is at least 1", options.search.max_tokens);
  Continuations text(model, example, options.prefix);
  BeamSearch search(options.search);
  BeamTree tree{.nodes = {{.state = BeamNode::State::kept}}, .found = {}};
  std::vector<int64_t> live = {0};                         // the node of each live hypothesis
  std::map<std::vector<int32_t>, int64_t> open, finished;  // by their tokens
  while (search.live() > 0 && !text.full()) {
    search.advance(likeliest_of(model.config(), text, text.scores(), options), 0);
    std::vector<int64_t> children;
    for (const BeamSearch::Candidate& candidate : search.looked_at()) {
      const int64_t parent = live[candidate.parent];
      BeamNode node{.parent = parent,
                    .step = tree.nodes[parent].step + 1,
                    .id = candidate.id,
                    .log_probability = candidate.log_probability,
                    .token_log_probability = candidate.log_probability - tree.nodes[parent].log_probability};
      std::vector<int32_t> ids = text.written(candidate.parent);
      const auto number = std::ssize(tree.nodes);
      if (candidate.fate == BeamSearch::Fate::kept) {
        node.state = BeamNode::State::kept;
        children.push_back(number);
        ids.push_back(candidate.id);
        open[std::move(ids)] = number;
      } else if (candidate.fate == BeamSearch::Fate::finished) {
        node.state = BeamNode::State::finished;
        finished[std::move(ids)] = number;
      }
      tree.nodes.push_back(node);
    }
    live = std::move(children);
    std::vector<GenerationTask::Row> rows;
    for (int64_t i = 0; i < search.live(); ++i) rows.push_back({search.parent(i), search.last(i)});
    if (!rows.empty()) text.go_on(rows);
  }
  for (const Hypothesis& hypothesis : search.so_far(options.search.beam)) {
    const auto ended = finished.find(hypothesis.ids);
    const bool whole = ended != finished.end() &&
                       std::abs(tree.nodes[ended->second].log_probability - hypothesis.log_probability) < 1e-9;
    const int64_t node = whole ? ended->second : open.contains(hypothesis.ids) ? open.at(hypothesis.ids) : 0;
    if (!whole) tree.nodes[node].state = BeamNode::State::open;
    tree.found.push_back({hypothesis, node, whole});
  }
  return tree;
}

Json beam_json(const Tokenizer& tokenizer, const BeamTree& tree, const BeamTreeOptions& options) {
  Json nodes = Json::array(), found = Json::array();
  for (const BeamNode& node : tree.nodes) {
    nodes.push_back({{"id", nodes.size()},
                     {"parent", node.parent < 0 ? Json() : Json(node.parent)},
                     {"step", node.step},
                     {"token", node.id < 0 ? Json() : Json(piece_of(tokenizer, node.id))},
                     {"token_id", node.id < 0 ? Json() : Json(node.id)},
                     {"log_probability", node.log_probability},
                     {"probability", std::exp(node.token_log_probability)},
                     {"state", name_of(node.state)}});
  }
  for (const BeamTree::Found& one : tree.found) {
    nodes[one.node]["score"] = one.hypothesis.score;
    std::vector<int32_t> ids = options.prefix;
    ids.insert(ids.end(), one.hypothesis.ids.begin(), one.hypothesis.ids.end());
    found.push_back({{"node", one.node},
                     {"ids", one.hypothesis.ids},
                     {"text", tokenizer.decode(ids)},
                     {"log_probability", one.hypothesis.log_probability},
                     {"score", one.hypothesis.score},
                     {"ended", one.ended}});
  }
  return {{"beam", options.search.beam},
          {"length_penalty", options.search.length_penalty},
          {"nodes", std::move(nodes)},
          {"hypotheses", std::move(found)}};
}

}  // namespace limpid
