#pragma once
// InspectMemory: what a server remembers of one model's inside. The page asks several questions about one text, and the
// next one about the same: a text is read once and run once, with each list of interventions once more. The texts asked
// about last are kept, within a bound on memory; nothing in here changes an answer.

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "inspect/head_statistics.h"
#include "inspect/session.h"

namespace limpid {

// A text as the model reads it.
struct ReadText {
  Example example;
  std::vector<int32_t> target_ids;  // without start; ends with the end token
  bool written_by_model = false;    // the target
};

// The same with interventions: the model with the changed weights, and the changes of values.
struct ChangedText {
  std::shared_ptr<const Session> session;  // null: no weight is changed
  Example example;
};

class InspectMemory {
 public:
  // What `make` gives, kept under the key; it is called by one thread, others that want the same wait.
  std::shared_ptr<const ReadText> text(const std::string& key, const std::function<ReadText()>& make);
  std::shared_ptr<const ChangedText> changed(const std::string& key, const std::function<ChangedText()>& make);
  // Gives an example a memory of its passes.
  void remember_passes(const Session& session, Example& example);
  // Of the model as it is.
  const std::vector<HeadScore>& induction(const std::function<std::vector<HeadScore>()>& make);

 private:
  template <class T>
  struct Kept {
    struct Entry {
      std::string key;
      std::once_flag once;
      std::shared_ptr<const T> value;
    };
    std::list<std::shared_ptr<Entry>> entries;  // used last: in front
  };
  template <class T>
  std::shared_ptr<const T> find(Kept<T>& kept, const std::string& key, const std::function<T()>& make);

  std::mutex mutex_;
  Kept<ReadText> texts_;
  Kept<ChangedText> changed_;
  std::list<std::weak_ptr<PassMemory>> passes_;  // of the texts kept, the newest first
  Arena arena_;  // of passes over short texts: a new one takes the memory that an old one has left
  std::once_flag induction_once_;
  std::vector<HeadScore> induction_;
};

}  // namespace limpid
