#pragma once
// A session around a small model of any family, whose tokens are letters, for tests.

#include "inspect/session.h"
#include "models/small_models.h"

namespace limpid {

class LetterTokenizer : public Tokenizer {
 public:
  int64_t size() const override { return 23; }
  SpecialIds special() const override { return {.pad = 0, .end = 2}; }
  std::vector<int32_t> encode(std::string_view text) const override {
    std::vector<int32_t> ids;
    for (char c : text)
      if (c >= 'a' && c < 'a' + 23) ids.push_back(c - 'a');
    return ids;
  }
  std::string decode(std::span<const int32_t> ids) const override {
    std::string text;
    for (int32_t id : ids) text += piece(id);
    return text;
  }
  std::string piece(int32_t id) const override { return std::string(1, static_cast<char>('a' + id)); }
  std::string bytes(int32_t id) const override { return piece(id); }
};

struct SmallSession {
  explicit SmallSession(const std::string& name) {
    SmallModel small = small_model(small_configs().at(name));
    small.model->keep(std::shared_ptr<Parameters>(std::move(small.parameters)));
    session.loaded.model = std::move(small.model);
    session.loaded.tokenizers.source = session.loaded.tokenizers.target = std::make_shared<LetterTokenizer>();
  }

  Text text() const { return {"ejcrg", session.two_sided() ? "fdkb" : ""}; }
  Text other_text() const { return {"lqeft", session.two_sided() ? "omhi" : ""}; }
  Example example() const { return session.example(text()); }

  Session session;
};

}  // namespace limpid
