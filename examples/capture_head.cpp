// Shows what one head attends to while a model reads a text: capture_head MODEL TEXT TAP HEAD
// For example: capture_head my-model "The dog" blocks.0.attn.pattern 2

#include <limpid/limpid.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>

int main(int argc, char** argv) try {
  if (argc != 5) {
    std::cerr << "usage: capture_head MODEL TEXT TAP HEAD\n";
    return 2;
  }
  const limpid::Session session = limpid::open_session(argv[1]);
  const auto text = session.example({.text = argv[2]});
  bool seen = false;
  limpid::FunctionProbe probe;
  probe.on(argv[3], [&](const limpid::Tap& tap) {
    seen = true;
    const limpid::ConstMatrix pattern = tap.pairs(0, std::atoi(argv[4]));  // (queries, keys) of the only text
    for (int64_t query = 0; query < pattern.rows; ++query) {
      std::printf("%12s", text.input[static_cast<size_t>(query)].c_str());
      for (int64_t key = 0; key < pattern.cols; ++key) std::printf(" %.3f", double{pattern(query, key)});
      std::printf("\n");
    }
  });
  limpid::forward_logits(session.model(), text, &probe);
  if (!seen) std::cerr << "this model has no tap " << argv[3] << ": limpid look MODEL taps lists them\n";
  return seen ? 0 : 1;
} catch (const limpid::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
