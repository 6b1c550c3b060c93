// limpid serve: models over HTTP.

#include <fmt/format.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "app/command.h"
#include "server/experiments_routes.h"
#include "server/inspect_routes.h"
#include "server/libretranslate_routes.h"
#include "server/openai_routes.h"
#include "server/runs_routes.h"
#include "server/served_models.h"
#include "server/server.h"
#include "training/run_folder.h"

namespace limpid {
namespace {

struct ServeOptions {
  std::vector<std::string> models;
  ServerOptions server;
  EngineServiceOptions engine;
  RequestLimits limits;
  std::vector<std::string> languages;
  double grace = 30;
  double memory = 0;
  std::string runs;         // a folder of training runs
  std::string experiments;  // a folder of limpid experiment
  InspectLimits inspect;
  bool quiet = false, json = false;
};

// Every connection is an open file.
void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// From before the first thread is made, so that no thread of the process takes them: only wait() does.
class Signals {
 public:
  Signals() {
    ::sigemptyset(&set_);
    ::sigaddset(&set_, SIGINT);
    ::sigaddset(&set_, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
  }
  void wait() const {
    int signal = 0;
    ::sigwait(&set_, &signal);
  }
  // From now on Ctrl-C ends the process at once. A repetition within a quarter of a second is the same wish: shells and
  // npm send a signal to a process and to its group.
  static void end_at_the_next() {
    std::thread([] {
      sigset_t interrupt{};
      ::sigemptyset(&interrupt);
      ::sigaddset(&interrupt, SIGINT);
      const auto same_wish = std::chrono::steady_clock::now() + std::chrono::milliseconds(250);
      int signal = 0;
      do ::sigwait(&interrupt, &signal);
      while (std::chrono::steady_clock::now() < same_wish);
      std::signal(SIGINT, SIG_DFL);
      ::pthread_sigmask(SIG_UNBLOCK, &interrupt, nullptr);
      ::raise(SIGINT);
    }).detach();
  }

 private:
  sigset_t set_{};
};

void add_seconds(CommandLine& line, const std::string& name, TransportLimits::Seconds& value, const std::string& help) {
  line.add_option_function<double>(
          name, [&value](double seconds) { value = TransportLimits::Seconds(seconds); }, help)
      ->check(CLI::Range(0.001, 1e9))
      ->default_str(fmt::format("{}", value.count()));
}

void add_options(CommandLine& line, ServeOptions& options) {
  ServerOptions& server = options.server;
  AccessOptions& access = server.access;
  TransportLimits& limits = server.limits;
  const auto whole = [&](const std::string& name, int64_t& value, const std::string& help) {
    line.add_option(name, value, help)->check(CLI::Range(int64_t{1}, int64_t{1} << 40))->capture_default_str();
  };
  line.add_option("MODELS", options.models, "models' folders or files; ID=PATH gives one another name")->required();
  line.add_option("--runs", options.runs, "a folder whose training runs can be watched, besides those of the models");
  line.add_option("--experiments", options.experiments,
                  "a folder of limpid experiment for the laboratory (default: limpid-experiments, where there is one)");
  line.add_option("--host", access.host, "address to listen on; others than loopback want a key")
      ->capture_default_str();
  line.add_option("--port", server.port, "port to listen on (0: one that is free)")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  line.add_option("--api-key", access.key, "key that clients must send (default: the variable LIMPID_API_KEY)")
      ->envname("LIMPID_API_KEY");
  line.add_flag("--no-key", access.no_key, "do without a key though others can reach the server");
  line.add_option("--allow-host", access.hosts, "another name by which clients may call the server; may be repeated")
      ->allow_extra_args(false);
  line.add_option("--allow-origin", access.origins, "a web page that may use the server, https://…; may be repeated")
      ->allow_extra_args(false);
  line.add_option("--languages", options.languages,
                  "what a translator translates, ID=en-ko, where its name does not end in it; may be repeated")
      ->allow_extra_args(false);
  line.add_option("--grace", options.grace, "seconds that running requests get to finish on SIGTERM or Ctrl-C")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  whole("--batch-size", options.engine.engine.max_batch, "texts that a thread writes side by side");
  whole("--queue", options.engine.waiting, "requests that may wait for their turn; beyond that clients get 429");
  line.add_option("--memory", options.memory, "most memory per model for keys and values, in MB (0: no bound)")
      ->check(CLI::Range(0.0, 1e9));
  whole("--max-connections", limits.connections, "connections at once");
  whole("--max-body-bytes", limits.body_bytes, "most bytes of a request's body");
  line.add_option("--max-prompt-tokens", options.limits.prompt_tokens,
                  "most tokens of a prompt or of a text to translate (0: the model's context)")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40));
  line.add_option("--max-tokens", options.limits.output_tokens,
                  "most tokens of one answer or of a sentence's translation (0: the model's context)")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40));
  whole("--max-texts", options.limits.texts, "most texts of one request: prompts times samples");
  whole("--max-capture-bytes", options.inspect.bytes, "most bytes of the numbers in one answer of /inspect");
  whole("--max-pass-bytes", options.inspect.pass_bytes,
        "most bytes that the values asked for by one such request take");
  add_seconds(line, "--request-timeout", limits.request, "seconds in which a request must be answered");
  add_seconds(line, "--body-timeout", limits.body, "seconds in which a request's body must arrive");
  add_seconds(line, "--idle-timeout", limits.idle, "seconds that a connection may lie idle");
  line.add_flag("--log-text", server.log_text, "the access log has the text of requests too");
  line.add_flag("--quiet", options.quiet, "no access log");
  line.add_flag("--json", options.json, "print the address as JSON on the standard output when it is ready");
}

// The folder given, which must be there, or what limpid experiment writes unless it is told otherwise.
std::filesystem::path experiments_folder(const std::string& given) {
  check(given.empty() || std::filesystem::is_directory(given),
        "[serve] --experiments {}: there is no such folder: limpid experiment all --out {} makes it", given, given);
  if (!given.empty()) return given;
  for (const char* name : {"limpid-experiments", "limpid-experiments-quick"})
    if (std::filesystem::is_directory(name)) return name;
  return {};
}

std::map<std::string, LanguagePair> language_pairs(const std::vector<std::string>& texts) {
  std::map<std::string, LanguagePair> pairs;
  for (const std::string& text : texts) {
    const size_t sign = text.rfind('=');
    check(sign != std::string::npos, "[serve] --languages {}: say ID=en-ko", text);
    pairs[text.substr(0, sign)] = parse_language_pair(text.substr(sign + 1));
  }
  return pairs;
}

}  // namespace

int run_serve(int argc, char** argv) {
  CommandLine line("serve", "Serves models over HTTP: OpenAI's and LibreTranslate's interfaces, and the page.",
                   "limpid serve MODEL --port 8080");
  ServeOptions options;
  add_options(line, options);
  if (const auto code = line.read(argc, argv)) return *code;
  const AccessOptions& access = options.server.access;
  check(
      is_loopback(access.host) || !access.key.empty() || access.no_key,
      "[serve] on {} others can reach the server: give it a key (--api-key, or the variable LIMPID_API_KEY), or allow "
      "it to be without one (--no-key)",
      access.host);
  const Signals signals;
  allow_many_files();
  options.engine.engine.step_seconds = 0.07;  // so that no text waits for long prompts of others
  options.engine.engine.memory = static_cast<int64_t>(options.memory * (1 << 20));
  options.server.page = find_page();
  if (!options.quiet)
    options.server.access_log = [](std::string_view text) {
      fmt::print("{}\n", text);
      std::fflush(stdout);
    };
  Server server(std::move(options.server));
  ServedModels models;  // gone before the server, whose replies its engines hold
  WatchedRuns runs;
  RunEvents events;
  describe_engine_metrics(server.metrics());
  add_openai_routes(server, models, options.limits);
  add_libretranslate_routes(server, models, language_pairs(options.languages), options.limits);
  add_inspect_routes(server, models, options.inspect);
  add_runs_routes(server, runs, events);
  add_experiments_routes(server, experiments_folder(options.experiments));
  server.start();
  for (const std::string& model : options.models) {
    const ServedModel& loaded = models.load(model, options.engine, &server.metrics());
    if (is_run_folder(loaded.path)) runs.add(loaded.path, loaded.id);
    for (const std::string& note : loaded.config().notes) fmt::print(stderr, "limpid serve: {}: {}\n", loaded.id, note);
  }
  if (!options.runs.empty()) runs.add_all_in(options.runs);
  server.set_ready();
  if (options.json) {
    fmt::print("{}\n", nlohmann::ordered_json{{"address", server.address()}}.dump());
    std::fflush(stdout);
  }
  fmt::print(stderr, "limpid serve: {}\n", server.address());
  signals.wait();
  fmt::print(stderr, "limpid serve: finishing what runs\n");
  Signals::end_at_the_next();
  events.end();  // they would go on as long as somebody listens
  server.stop(std::chrono::duration<double>(options.grace));
  return 0;
}

}  // namespace limpid
