// Opens a model, whatever its format, and continues a prompt: generate MODEL PROMPT

#include <limpid/limpid.h>

#include <iostream>

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::cerr << "usage: generate MODEL PROMPT\n";
    return 2;
  }
  const limpid::LoadedModel model = limpid::load_model(argv[1]);
  const limpid::Completion completion =
      limpid::complete(model, argv[2], {.temperature = 0, .max_tokens = 20}, [](std::string_view text) {
        std::cout << text << std::flush;
        return true;
      });
  std::cout << "\n(" << completion.tokens.size() << " tokens, log-probability " << completion.log_probability << ")\n";
} catch (const limpid::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
