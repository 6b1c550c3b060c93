#include "server/inspect_memory.h"

#include "inspect/pass_memory.h"

namespace limpid {
namespace {

constexpr size_t kTexts = 3;                  // of each kind; each may keep
constexpr int64_t kBytesOfText = 96ll << 20;  // so much of what its passes showed

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
  example.memory = std::make_shared<PassMemory>(session, kBytesOfText, arena_);
}

}  // namespace limpid
