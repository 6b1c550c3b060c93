// One model, several threads, a request each at the same time: many_threads MODEL PROMPT THREADS
// Each thread draws with a seed of its own; what it gets is what the same request gets alone.

#include <limpid/limpid.h>

#include <cstdlib>
#include <iostream>
#include <thread>

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::cerr << "usage: many_threads MODEL PROMPT THREADS\n";
    return 2;
  }
  const limpid::LoadedModel model = limpid::load_model(argv[1]);
  const auto request = [&](uint64_t seed) {
    return limpid::complete(model, argv[2], {.max_tokens = 16, .seed = seed}).text;
  };
  const auto count = static_cast<size_t>(std::atoi(argv[3]));
  std::vector<std::string> texts(count);
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < count; ++i) threads.emplace_back([&, i] { texts[i] = request(i + 1); });
  threads.clear();  // waits for all
  bool same = true;
  for (size_t i = 0; i < count; ++i) {
    std::cout << i + 1 << ": " << texts[i] << '\n';
    same = same && texts[i] == request(i + 1);
  }
  std::cout << (same ? "each as if it had been alone\n" : "a request's text depends on its company\n");
  return same ? 0 : 1;
} catch (const limpid::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
