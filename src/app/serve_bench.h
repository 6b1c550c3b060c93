#pragma once
// A server under load, and the engine by itself under the same: so many clients that each send one request after
// another and read what is written. Prompts come from a file, one per line; all answers have the same length.

#include <nlohmann/json.hpp>

#include <string>

namespace limpid {

struct LoadBench {
  std::string prompts;  // a file
  int64_t clients = 64, tokens = 64;
  double seconds = 12;  // of which a quarter, at most three, warm up
};

// tokens_per_second, first_token_ms and token_ms (median, p99), answers, failed by reason, and the processor time that
// the clients themselves took.
struct ServeBench : LoadBench {
  std::string address;       // http://127.0.0.1:8080: any server of /v1/completions
  std::string extra = "{}";  // further fields of every request
};
nlohmann::ordered_json bench_serve(const ServeBench& options);

// The same of an Engine, without a server.
struct EngineBench : LoadBench {
  std::string model;
  int64_t batch = 64;  // texts in a lane
};
nlohmann::ordered_json bench_engine(const EngineBench& options);

}  // namespace limpid
