// The fuzzer: libFuzzer on one of the readers. ./test --fuzz runs it.
//
//   fuzz --reader=gguf CORPUS...      libFuzzer's own options apply
//   fuzz --seeds=FOLDER               writes FOLDER/READER/N and ends
//   fuzz --list                       names the readers and ends

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/random.h"
#include "fuzz/mutators.h"

namespace fuzz = limpid::fuzz;

namespace {

const fuzz::Reader* reader = nullptr;

void write_seeds(const std::filesystem::path& folder) {
  for (const fuzz::Reader& one : fuzz::readers()) {
    std::filesystem::create_directories(folder / one.name);
    int number = 0;
    for (const std::string& seed : one.seeds()) limpid::write_text(folder / one.name / std::to_string(number++), seed);
  }
}

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

extern "C" int LLVMFuzzerInitialize(const int* argc, char*** argv) {
  for (int i = 1; i < *argc; ++i) {
    const std::string_view word = (*argv)[i];
    if (word == "--list") {
      for (const fuzz::Reader& one : fuzz::readers()) fmt::print("{}\n", one.name);
      std::exit(0);
    }
    if (word.starts_with("--seeds=")) {
      write_seeds(word.substr(8));
      std::exit(0);
    }
    if (word.starts_with("--reader=")) reader = fuzz::find_reader(word.substr(9));
  }
  if (reader != nullptr) return 0;
  fmt::print(stderr, "--reader=NAME is required; --list names them\n");
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::try_reader(*reader, {reinterpret_cast<const char*>(data), size});
  return 0;
}

// Half of the time by the form of the input, else libFuzzer's own way, which knows what was compared with what.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  if (seed % 2 == 0) return LLVMFuzzerMutate(data, size, most);
  const std::string made = fuzz::mutate({reinterpret_cast<const char*>(data), size}, reader->shape, seed);
  const size_t length = std::min(made.size(), most);
  std::memcpy(data, made.data(), length);
  return length;
}
