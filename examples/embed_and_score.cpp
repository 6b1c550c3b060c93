// What a language model makes of texts: their tokens, how likely it finds them, how near their vectors lie to that of
// the first one: embed_and_score MODEL TEXT...

#include <limpid/limpid.h>

#include <cmath>
#include <cstdio>
#include <iostream>
#include <numeric>

namespace {

double cosine(const std::vector<limpid::real>& a, const std::vector<limpid::real>& b) {
  const auto dot = [](const auto& x, const auto& y) { return std::inner_product(x.begin(), x.end(), y.begin(), 0.0); };
  return dot(a, b) / std::sqrt(dot(a, a) * dot(b, b));
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::cerr << "usage: embed_and_score MODEL TEXT...\n";
    return 2;
  }
  const limpid::LoadedModel model = limpid::load_model(argv[1]);
  const std::vector<std::string> texts(argv + 2, argv + argc);
  const auto vectors = limpid::embed(model, texts);
  const std::vector<limpid::TextScore> scores = limpid::score(model, texts);
  for (size_t i = 0; i < texts.size(); ++i) {
    const size_t tokens = model.tokenizers.source->encode(texts[i]).size();
    std::printf("%3zu tokens, log-probability %9.4f, similarity %7.4f: %s\n", tokens, scores[i].log_probability,
                cosine(vectors[0], vectors[i]), texts[i].c_str());
  }
} catch (const limpid::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
