#include "inspect/fact_study.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/random.h"

namespace limpid {
namespace {

// Different facts, drawn from those that the model knows in every way it was trained to.
class FactSample {
 public:
  FactSample(const FactPrompts& prompts, size_t facts, uint64_t seed)
      : random_(random_key(seed, 0, 0)), known_(facts, true) {
    const std::vector<size_t> all = prompts.everything();
    const std::vector<FactAnswer> answers = prompts.ask(all);
    for (size_t i : all) {
      const FactPrompt& prompt = prompts.all()[i];
      if (!prompt.held_out && answers[i].said != prompt.answer) known_[prompt.fact] = false;
    }
  }

  std::vector<size_t> draw(int64_t count, size_t except) {
    std::vector<size_t> left, drawn;
    for (size_t i = 0; i < known_.size(); ++i)
      if (known_[i] && i != except) left.push_back(i);
    while (static_cast<int64_t>(drawn.size()) < count && !left.empty()) {
      const auto at = static_cast<ptrdiff_t>(random_.below(static_cast<int64_t>(left.size())));
      drawn.push_back(left[static_cast<size_t>(at)]);
      left.erase(left.begin() + at);
    }
    return drawn;
  }

  Random& random() { return random_; }

 private:
  Random random_;
  std::vector<char> known_;
};

size_t find_fact(const FactWorld& world, const std::string& text) {
  for (const FactSentence& sentence : world.sentences())
    if (sentence.text() == text || sentence.prompt == text) return sentence.fact;
  fail("[facts] the world has no sentence \"{}\": take one of the corpus of facts", text);
}

// Another object of the same relation.
std::string other_object(const FactWorld& world, size_t fact, Random& random) {
  std::set<std::string> objects;
  for (const Fact& other : world.facts())
    if (other.relation == world.facts()[fact].relation && other.object != world.facts()[fact].object)
      objects.insert(other.object);
  auto chosen = objects.begin();
  std::advance(chosen, random.below(static_cast<int64_t>(objects.size())));
  return *chosen;
}

Trace trace_prompt(const Session& session, const FactPrompts& prompts, size_t prompt) {
  return causal_trace(session.model(), prompts.example(prompt),
                      {.subject = prompts.all()[prompt].subject, .answer = prompts.all()[prompt].answer});
}

void add_trace(const Trace& trace, const FactPrompt& prompt, double weight, std::vector<MeanTrace>& means) {
  means.resize(trace.maps.size());
  const int64_t first = prompt.subject.front(), last_name = prompt.subject.back(), last = trace.positions - 1;
  for (size_t m = 0; m < trace.maps.size(); ++m) {
    const TraceMap& map = trace.maps[m];
    MeanTrace& mean = means[m];
    mean.name = map.name;
    for (auto* list : {&mean.first_subject, &mean.last_subject, &mean.between, &mean.last})
      list->resize(map.taps.size());
    for (size_t layer = 0; layer < map.taps.size(); ++layer) {
      const auto at = [&](int64_t position) {
        return weight * trace.restored(map, static_cast<int64_t>(layer), position);
      };
      mean.first_subject[layer] += at(first);
      mean.last_subject[layer] += at(last_name);
      mean.last[layer] += at(last);
      for (int64_t p = last_name + 1; p < last; ++p)
        mean.between[layer] += at(p) / static_cast<double>(last - last_name - 1);
    }
  }
}

std::vector<size_t> draw_prompts(const FactPrompts& prompts, int64_t count, Random& random) {
  std::vector<size_t> drawn;
  for (int64_t i = 0; i < count; ++i)
    drawn.push_back(static_cast<size_t>(random.below(static_cast<int64_t>(prompts.all().size()))));
  return drawn;
}

void study_recall(const FactPrompts& prompts, FactStudy& study) {
  std::vector<size_t> trained, held_out;
  for (size_t i = 0; i < prompts.all().size(); ++i) (prompts.all()[i].held_out ? held_out : trained).push_back(i);
  study.recall_trained = prompts.recall(trained);
  study.recall_held_out = prompts.recall(held_out);
  study.recall_facts = prompts.recall(prompts.first_paraphrases());
}

}  // namespace

FactStudy study_facts(const Session& session, const FactWorld& world, const FactStudyOptions& options,
                      const StudyProgress& progress) {
  const FactPrompts prompts(session, world);
  FactStudy study{.facts = static_cast<int64_t>(world.facts().size()), .fact = find_fact(world, options.fact)};
  const double work = 3.0 + static_cast<double>(options.traced + options.ablated + options.edited);
  double done = 0;
  const auto tell = [&](const std::string& what) {
    if (progress) progress(done / work, what);
    ++done;
  };
  tell("recall");
  study_recall(prompts, study);
  FactSample sample(prompts, world.facts().size(), options.seed);

  const size_t own = prompts.of_fact(study.fact).front();
  study.trace = trace_prompt(session, prompts, own);
  study.tokens = prompts.example(own).input;
  const std::vector<size_t> traced = sample.draw(options.traced, study.fact);
  for (size_t fact : traced) {
    tell("tracing");
    const size_t prompt = prompts.of_fact(fact).front();
    add_trace(trace_prompt(session, prompts, prompt), prompts.all()[prompt], 1 / static_cast<double>(traced.size()),
              study.mean_trace);
  }

  tell("neurons");
  std::vector<double> elsewhere =
      neuron_worth(session, prompts, draw_prompts(prompts, options.compared, sample.random()));
  for (double& x : elsewhere) x = std::max(x, 0.0);
  const int64_t per_block = static_cast<int64_t>(elsewhere.size()) / session.config().decoder.layers;
  const auto ablate = [&](size_t fact) {
    const std::vector<size_t> paraphrases = prompts.of_fact(fact);
    const std::vector<double> worth = neuron_worth(session, prompts, paraphrases);
    return ablate_fact(prompts, fact, paraphrases, rank_neurons(worth, elsewhere, per_block), options.most_neurons);
  };
  study.ablation = ablate(study.fact);
  for (size_t fact : sample.draw(options.ablated, study.fact)) {
    tell("silencing neurons");
    study.ablations.push_back(ablate(fact));
  }

  tell("keys of all facts");
  FactEditor editor(session, world, prompts, options.edit);
  const auto rewrite = [&](size_t fact, const std::string& object) {
    return editor.edit(fact,
                       prompts.object_token(object.empty() ? other_object(world, fact, sample.random()) : object));
  };
  study.edit = rewrite(study.fact, options.new_object);
  for (size_t fact : sample.draw(options.edited, study.fact)) {
    tell("rewriting facts");
    study.edits.push_back(rewrite(fact, ""));
  }
  return study;
}

}  // namespace limpid
