#include "server/inspect_memory.h"

#include <unistd.h>

#include <algorithm>

#include "inspect/pass_memory.h"

namespace limpid {
namespace {

constexpr size_t kTexts = 3;                // of each kind
constexpr int64_t kShortText = 96ll << 20;  // bytes of all that a pass over it shows

// How many bytes one text may keep; all of them together twice as many: an eighth of the machine's memory.
int64_t most_bytes_of_text() {
  const int64_t machine = int64_t{sysconf(_SC_PHYS_PAGES)} * int64_t{sysconf(_SC_PAGE_SIZE)};
  return std::max(kShortText, machine / 16);
}

}  // namespace

template <class T>
std::shared_ptr<const T> InspectMemory::find(Kept<T>& kept, const std::string& key, const std::function<T()>& make) {
  std::shared_ptr<typename Kept<T>::Entry> entry;
  {
    const std::lock_guard lock(mutex_);
    auto& entries = kept.entries;
    for (auto at = entries.begin(); at != entries.end() && !entry; ++at)
      if ((*at)->key == key) {
        entry = *at;
        entries.splice(entries.begin(), entries, at);
        break;
      }
    if (!entry) {
      entry = std::make_shared<typename Kept<T>::Entry>();
      entry->key = key;
      entries.push_front(entry);
      if (entries.size() > kTexts) entries.pop_back();
    }
  }
  std::call_once(entry->once, [&] { entry->value = std::make_shared<const T>(make()); });  // tried again if it throws
  return entry->value;
}

std::shared_ptr<const ReadText> InspectMemory::text(const std::string& key, const std::function<ReadText()>& make) {
  return find(texts_, key, make);
}

std::shared_ptr<const ChangedText> InspectMemory::changed(const std::string& key,
                                                          const std::function<ChangedText()>& make) {
  return find(changed_, key, make);
}

const std::vector<HeadScore>& InspectMemory::induction(const std::function<std::vector<HeadScore>()>& make) {
  std::call_once(induction_once_, [&] { induction_ = make(); });
  return induction_;
}

void InspectMemory::remember_passes(const Session& session, Example& example) {
  const std::lock_guard lock(mutex_);
  int64_t others = 0;
  for (auto at = passes_.begin(); at != passes_.end();) {  // the newest first
    const std::shared_ptr<PassMemory> passes = at->lock();
    if (!passes) {
      at = passes_.erase(at);
      continue;
    }
    const int64_t bytes = passes->bytes();
    if (others + bytes <= most_bytes_of_text() || !passes->forget()) others += bytes;
    ++at;
  }
  // What a long text took goes back to the machine when it is forgotten.
  const bool is_short = PassMemory::bytes_of(session, example) <= kShortText;
  example.memory = std::make_shared<PassMemory>(session, most_bytes_of_text(), is_short ? arena_ : Arena());
  passes_.push_front(example.memory);
}

}  // namespace limpid
