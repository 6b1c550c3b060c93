// Translates a file line by line: translate_file MODEL < SOURCE > TRANSLATION

#include <limpid/limpid.h>

#include <iostream>

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::cerr << "usage: translate_file MODEL < SOURCE > TRANSLATION\n";
    return 2;
  }
  const limpid::LoadedModel model = limpid::load_model(argv[1]);
  std::vector<std::string> lines;
  for (std::string line; std::getline(std::cin, line);) lines.push_back(line);
  for (const std::string& translation : limpid::translate(model, lines)) std::cout << translation << '\n';
} catch (const limpid::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
