// What a model says where one of its values is taken from another text: patch_activation MODEL TEXT OTHER-TEXT PLACE
// For example: patch_activation facts "Larry Bird plays the sport of" "Wayne Gretzky plays the sport of"
// blocks.0.resid_post@1

#include <limpid/limpid.h>

#include <cstdio>
#include <iostream>

int main(int argc, char** argv) try {
  if (argc != 5) {
    std::cerr << "usage: patch_activation MODEL TEXT OTHER-TEXT PLACE\n";
    return 2;
  }
  const limpid::Session session = limpid::open_session(argv[1]);
  const auto text = session.example({.text = argv[2]});
  const limpid::Intervention patching{
      .kind = limpid::Intervention::Kind::patch, .place = limpid::parse_place(argv[4]), .from = {.text = argv[3]}};
  limpid::Intervener patch(session, text, {patching});
  const limpid::Tensor before = limpid::forward_logits(session.model(), text, nullptr);
  const limpid::Tensor after = limpid::forward_logits(session.model(), text, &patch);
  const limpid::Effect effect = limpid::compare_logits(before.values(), after.values(), {.top = 3});
  std::printf("%-20s %8s %8s\n", "next token", "before", "after");
  for (const limpid::TokenEffect& token : effect.tokens)
    std::printf("%-20s %7.2f%% %7.2f%%\n", session.piece(token.token).c_str(), 100 * token.probability_before,
                100 * token.probability_after);
} catch (const limpid::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
