#pragma once
// What the page's laboratory trains and computes in the server while someone watches: an induction head that forms,
// facts that are located, silenced and rewritten, and the features of a sparse autoencoder. Facts and features are
// those of one small model, trained by whoever asks first and kept as long as the server runs.

#include <functional>
#include <mutex>
#include <optional>

#include "base/temporary_folder.h"
#include "experiments/lab.h"
#include "inspect/session.h"
#include "server/json_fields.h"

namespace limpid {

// Where a study tells what it has come to: "progress" with {done, what}, 0 … 1, or events of its own. False: nobody
// listens any more, and the study ends with Error::cancelled.
using LaboratoryEvents = std::function<bool(const char* event, const Json& data)>;

class Laboratory {
 public:
  explicit Laboratory(Size size = Size::quick) : size_(size) {}

  // One or two layers of attention learn to repeat: an event "point" for every measurement.
  static Json induction(JsonFields& fields, const LaboratoryEvents& tell);

  // What can be asked of the model of facts: sentences, and the words that each relation's facts end with.
  static Json world();
  // Of one fact: where its answer comes back, the neurons without which it is lost, and what rewriting it changes.
  Json facts(JsonFields& fields, const LaboratoryEvents& tell);

  // A sparse autoencoder on what the second network of the model of facts writes, and some of its features.
  Json features(JsonFields& fields, const LaboratoryEvents& tell);

 private:
  // The model, trained where it is not there yet.
  const Session& model(const LaboratoryEvents& tell);
  Lab lab(const LaboratoryEvents& tell) const;

  // One study at a time, so that what is trained is trained once.
  std::unique_lock<std::timed_mutex> alone(const LaboratoryEvents& tell);

  const Size size_;
  std::timed_mutex mutex_;
  std::optional<TemporaryFolder> folder_;
  std::optional<Session> session_;
};

}  // namespace limpid
