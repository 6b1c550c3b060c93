#include "inspect/fact_edit.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "autograd/ops.h"
#include "base/error.h"
#include "base/random.h"
#include "inspect/gradient.h"
#include "inspect/weights.h"

namespace limpid {
namespace {

constexpr int kSteps = 12;  // towards the margin

int64_t block_of(const Session& session, const FactEditOptions& options) {
  const int64_t blocks = session.config().decoder.layers;
  check(session.config().feed_forward, "[facts] this model has no feed-forward networks to edit");
  check(options.block < blocks, "[facts] there is no block {}: the model has {}", options.block, blocks);
  return options.block < 0 ? blocks - 1 : options.block;
}

std::string down_name(const Session& session, int64_t block) {
  return stack_names(session.config(), "").of(block).ffn.down + ".weight";
}

double share(int64_t part, int64_t whole) {
  return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
}

// x with (a + ridge)·x = b, where a is symmetric; the ridge, in parts of its mean diagonal, makes it positive definite.
Eigen::MatrixXd solve(Eigen::MatrixXd a, double ridge, const Eigen::MatrixXd& b) {
  a.diagonal().array() += ridge * a.diagonal().mean() + 1e-12;
  const Eigen::LLT<Eigen::MatrixXd> factor(a);
  check(factor.info() == Eigen::Success, "[facts] the matrix is not positive definite: give it a larger ridge");
  return factor.solve(b);
}

}  // namespace

FactEditor::FactEditor(const Session& session, const FactWorld& world, const FactPrompts& prompts,
                       const FactEditOptions& options)
    : session_(session),
      world_(world),
      prompts_(prompts),
      options_(options),
      value_tap_(fmt::format("blocks.{}.ffn_out", block_of(session, options))),
      weight_(down_name(session, block_of(session, options))),
      turned_(session.config().layout == WeightLayout::in_out),
      neurons_(session.config().decoder.ffn),
      first_paraphrases_(prompts.first_paraphrases()) {
  // Keys of every prompt at its last position, in one go through the world.
  FunctionProbe probe;
  probe.on(fmt::format("blocks.{}.ffn.post", block_of(session, options)), [&](const Tap& tap) {
    for (int64_t i = 0; i < tap.layout.rows->count(); ++i) {
      const ConstMatrix rows = tap.sequence(i);
      keys_.emplace_back(rows.row(rows.rows - 1), rows.row(rows.rows - 1) + rows.cols);
    }
  });
  const std::vector<size_t> all = prompts.everything();
  prompts.ask(all, &probe);
  covariance_.assign(static_cast<size_t>(neurons_ * neurons_), 0);
  for (const std::vector<double>& key : keys_)
    for (int64_t i = 0; i < neurons_; ++i) {
      if (key[i] == 0) continue;  // most are, after a ReLU
      for (int64_t j = 0; j < neurons_; ++j)
        covariance_[i * neurons_ + j] += key[i] * key[j] / static_cast<double>(keys_.size());
    }
  before_ = prompts.ask(first_paraphrases_);
}

// Steps of Newton's kind on one number: (margin - lead) / |g|² along the gradient g of the lead.
std::vector<double> FactEditor::value_change(size_t prompt, int32_t new_answer) const {
  const Example example = prompts_.example(prompt);
  std::vector<double> change;
  for (int step = 0; step < kSteps; ++step) {
    const Arena arena;
    Tape tape(arena);
    FunctionProbe probe;
    Run run({.arena = arena, .tape = &tape, .probe = &probe});
    std::vector<double> gradient;
    const int64_t last = example.positions() - 1;
    probe.replace(value_tap_, [&](const Tap& tap) {
      Tensor value = constant(run, tap.value.values());
      change.resize(static_cast<size_t>(value.cols()));
      for (int64_t j = 0; j < value.cols(); ++j) value.values()(last, j) += static_cast<real>(change[j]);
      return watch_gradient(run, value, [&](ConstMatrix reached) {
        gradient.assign(reached.row(last), reached.row(last) + reached.cols);
      });
    });
    const Tensor logits = session_.model().logits(run, example.batch, example.choice);
    const real* row = logits.values().row(last);
    int32_t rival = new_answer == 0 ? 1 : 0;
    for (int32_t i = 0; i < logits.cols(); ++i)
      if (i != new_answer && row[i] > row[rival]) rival = i;
    std::vector<real> seed(static_cast<size_t>(logits.rows() * logits.cols()));
    Matrix derivative{seed.data(), logits.rows(), logits.cols()};
    const double lead =
        objective_value({.kind = Objective::Kind::difference, .position = last, .token = new_answer, .against = rival},
                        example, logits.values(), &derivative);
    if (lead >= options_.margin) break;
    tape.seed(logits, derivative);
    tape.backward();
    const double square = dot(gradient.data(), gradient.data(), static_cast<int64_t>(gradient.size()));
    check(square > 0, "[facts] what block {} writes does not reach the answer", value_tap_);
    for (size_t j = 0; j < change.size(); ++j) change[j] += (options_.margin - lead) / square * gradient[j];
  }
  return change;
}

FactEditor::Change FactEditor::wanted_change(const std::vector<size_t>& paraphrases, int32_t new_answer) const {
  Change change;
  for (size_t paraphrase : paraphrases) {
    change.keys.push_back(keys_[paraphrase]);
    change.values.push_back(value_change(paraphrase, new_answer));
  }
  return change;
}

// Those whose activation stands out most from what it is in the rest of the world, or as many at random.
std::vector<int64_t> FactEditor::choose_columns(size_t fact, const std::vector<std::vector<double>>& keys) const {
  std::vector<double> strength(neurons_);
  Random random(random_key(options_.random_columns, fact, 0));
  for (int64_t i = 0; i < neurons_; ++i) {
    if (options_.random_columns != 0) {
      strength[i] = random.uniform();
      continue;
    }
    for (const std::vector<double>& key : keys)
      strength[i] += key[i] * key[i] / (covariance_[i * neurons_ + i] + 1e-12);
  }
  std::vector<int64_t> order(neurons_);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return strength[a] > strength[b]; });
  if (options_.columns > 0) order.resize(static_cast<size_t>(std::min(options_.columns, neurons_)));
  std::sort(order.begin(), order.end());
  return order;
}

// W += D·(KᵀC⁻¹K)⁻¹·KᵀC⁻¹ in the chosen columns. Returns |Δ| / |W|.
double FactEditor::write(const Change& change, const std::vector<int64_t>& columns, Matrix w) const {
  const auto n = std::ssize(columns), paraphrases = std::ssize(change.keys), outputs = std::ssize(change.values[0]);
  Eigen::MatrixXd covariance(n, n), keys(n, paraphrases), values(outputs, paraphrases);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) covariance(i, j) = covariance_[columns[i] * neurons_ + columns[j]];
    for (int64_t p = 0; p < paraphrases; ++p) keys(i, p) = change.keys[p][columns[i]];
  }
  for (int64_t paraphrase = 0; paraphrase < paraphrases; ++paraphrase)
    values.col(paraphrase) = Eigen::Map<const Eigen::VectorXd>(change.values[paraphrase].data(), outputs);
  const Eigen::MatrixXd solved = solve(std::move(covariance), options_.ridge, keys);  // C⁻¹K
  const Eigen::MatrixXd mix =
      solve(keys.transpose() * solved, options_.ridge, solved.transpose());  // (paraphrases, columns)
  const Eigen::MatrixXd delta = values * mix;                                // (outputs, columns)
  double all = 0;
  for (int64_t i = 0; i < w.rows; ++i)
    for (int64_t j = 0; j < w.cols; ++j) all += static_cast<double>(w(i, j)) * static_cast<double>(w(i, j));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < outputs; ++j) {
      real& x = turned_ ? w(columns[i], j) : w(j, columns[i]);
      x += static_cast<real>(delta(j, i));
    }
  return std::sqrt(delta.squaredNorm() / all);
}

void FactEditor::measure(const Model& edited, FactEdit& edit) const {
  const std::vector<size_t> paraphrases = prompts_.of_fact(edit.fact);
  const std::vector<FactAnswer> said = prompts_.ask(edited, paraphrases);
  for (size_t i = 0; i < paraphrases.size(); ++i) {
    const FactPrompt& prompt = prompts_.all()[paraphrases[i]];
    const bool changed = said[i].said == edit.after;
    if (prompt.pattern == 0) edit.took = changed;
    ++(prompt.held_out ? edit.held_out : edit.paraphrases);
    (prompt.held_out ? edit.held_out_changed : edit.paraphrases_changed) += changed;
  }
  const std::vector<FactAnswer> after = prompts_.ask(edited, first_paraphrases_);
  const Fact& fact = world_.facts()[edit.fact];
  int64_t others = 0, same = 0, about = 0, about_same = 0, alike = 0, alike_same = 0;
  for (size_t i = 0; i < after.size(); ++i) {
    const size_t index = prompts_.all()[first_paraphrases_[i]].fact;
    if (index == edit.fact) continue;
    const Fact& other = world_.facts()[index];
    const bool unchanged = after[i].said == before_[i].said;
    ++others, same += unchanged;
    if (other.subject == fact.subject) ++about, about_same += unchanged;
    if (other.relation == fact.relation && other.object == fact.object) ++alike, alike_same += unchanged;
  }
  edit.others_same = share(same, others);
  edit.same_subject = share(about_same, about);
  edit.same_relation_and_answer = share(alike_same, alike);
}

FactEdit FactEditor::edit(size_t fact, int32_t new_answer) const {
  std::vector<size_t> trained;
  for (size_t paraphrase : prompts_.of_fact(fact))
    if (!prompts_.all()[paraphrase].held_out) trained.push_back(paraphrase);
  FactEdit edit{.fact = fact, .before = prompts_.all()[trained[0]].answer, .after = new_answer};
  const Change change = wanted_change(trained, new_answer);
  edit.columns = choose_columns(fact, change.keys);
  const std::unique_ptr<Model> edited = session_.model().sharing_weights();
  edit.relative_change = write(change, edit.columns, edit_weight(*edited, weight_));
  measure(*edited, edit);
  return edit;
}

}  // namespace limpid
