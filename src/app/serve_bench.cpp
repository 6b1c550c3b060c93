#include "app/serve_bench.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <map>
#include <sstream>

#include "app/measuring.h"
#include "base/file.h"
#include "base/json.h"
#include "inference/complete.h"
#include "inference/loaded_model.h"
#include "inference/model_text.h"

namespace limpid {
namespace {

std::vector<std::string> read_prompts(const std::string& path) {
  std::vector<std::string> prompts;
  std::istringstream lines(read_text(path));
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) prompts.push_back(line);
  check(!prompts.empty(), "[bench] {}: holds no prompts", path);
  return prompts;
}

double at_share(std::vector<double> numbers, double share) {
  if (numbers.empty()) return 0;
  const auto at = std::min(numbers.size() - 1, static_cast<size_t>(share * static_cast<double>(numbers.size())));
  std::nth_element(numbers.begin(), numbers.begin() + static_cast<ptrdiff_t>(at), numbers.end());
  return numbers[at];
}

// What the clients hear, and when. Not every token is a text of its own (a character may take several): a part that
// comes stands for as many tokens as it does on average.
class Tally {
 public:
  explicit Tally(const LoadBench& load)
      : tokens_(load.tokens), warm_(start_ + std::min(3.0, load.seconds / 4)), until_(start_ + load.seconds) {}

  bool over() const { return seconds_now() >= until_; }

  struct Answer {
    double last = seconds_now();  // when something came, or was asked for
    int64_t parts = 0;
  };
  void heard(Answer& answer) {
    const double now = seconds_now();
    if (now >= warm_ && now < until_) {
      ++parts_in_time_;
      (answer.parts == 0 ? first_ : each_).push_back(now - answer.last);
    }
    ++answer.parts;
    answer.last = now;
  }
  void finished(const Answer& answer) {
    ++answers_;
    parts_ += answer.parts;
  }
  void failed(const std::string& reason) { ++failed_[reason]; }

  nlohmann::ordered_json result(const LoadBench& load) const {
    const double per_part = parts_ > 0 ? static_cast<double>(answers_ * tokens_) / static_cast<double>(parts_) : 1;
    const auto milliseconds = [](const std::vector<double>& seconds) {
      return nlohmann::ordered_json{{"median", rounded(1000 * at_share(seconds, 0.5), 10)},
                                    {"p99", rounded(1000 * at_share(seconds, 0.99), 10)}};
    };
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return {{"clients", load.clients},
            {"tokens", tokens_},
            {"tokens_per_second", rounded(static_cast<double>(parts_in_time_) * per_part / (until_ - warm_), 10)},
            {"first_token_ms", milliseconds(first_)},
            {"token_ms", milliseconds(each_)},
            {"answers", answers_},
            {"failed", failed_},
            {"processor_seconds", rounded(seconds(used.ru_utime) + seconds(used.ru_stime), 100)}};
  }

 private:
  const int64_t tokens_;
  const double start_ = seconds_now();
  const double warm_, until_;
  std::vector<double> first_, each_;
  int64_t parts_in_time_ = 0, parts_ = 0, answers_ = 0;
  std::map<std::string, int64_t> failed_;
};

sockaddr_in address_of(const std::string& text) {
  const std::string scheme = "http://";
  const size_t colon = text.rfind(':');
  check(text.starts_with(scheme) && colon > scheme.size(), "[bench] \"{}\" is no address like http://127.0.0.1:8080",
        text);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(std::atoi(text.c_str() + colon + 1)));
  const std::string host = text.substr(scheme.size(), colon - scheme.size());
  check(::inet_pton(AF_INET, host == "localhost" ? "127.0.0.1" : host.c_str(), &address.sin_addr) == 1,
        "[bench] {} is no IPv4 address", host);
  return address;
}

// All clients on one thread, with as little work as can be: they take time from the server.
class Clients {
 public:
  Clients(const ServeBench& options, Tally& tally)
      : options_(options),
        address_(address_of(options.address)),
        prompts_(read_prompts(options.prompts)),
        fields_(parse_ordered_json(options.extra, "[bench] --extra")),
        tally_(tally),
        clients_(static_cast<size_t>(options.clients)),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    check(epoll_ >= 0, "[bench] epoll: {}", std::strerror(errno));
  }
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;
  ~Clients() { ::close(epoll_); }

  void run() {
    for (size_t i = 0; i < clients_.size(); ++i) ask(i);
    std::array<epoll_event, 256> events{};
    while (open_ > 0) {
      const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < count; ++i) read(events[static_cast<size_t>(i)].data.u64);
    }
  }

 private:
  struct Client {
    int socket = -1;
    std::string unsent, received;
    Tally::Answer answer;
    size_t looked_at = 0;
  };

  std::string next_request() {
    nlohmann::ordered_json body = {{"prompt", prompts_[next_++ % prompts_.size()]},
                                   {"max_tokens", options_.tokens},
                                   {"temperature", 0},
                                   {"stream", true},
                                   {"ignore_eos", true}};
    body.update(fields_);
    const std::string text = body.dump();
    return fmt::format(
        "POST /v1/completions HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n"
        "Content-Length: {}\r\n\r\n{}",
        options_.address.substr(7), text.size(), text);
  }

  // A server that is slow to accept keeps only this client waiting.
  void ask(size_t number) {
    Client& client = clients_[number];
    while (!tally_.over()) {
      client = {.socket = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), .unsent = next_request()};
      const int yes = 1;
      ::setsockopt(client.socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      epoll_event event{.events = EPOLLOUT, .data = {.u64 = number}};
      const auto* to = reinterpret_cast<const sockaddr*>(&address_);
      if ((::connect(client.socket, to, sizeof address_) == 0 || errno == EINPROGRESS) &&
          ::epoll_ctl(epoll_, EPOLL_CTL_ADD, client.socket, &event) == 0) {
        ++open_;
        return;
      }
      tally_.failed(fmt::format("asking: {}", std::strerror(errno)));
      ::close(client.socket);
    }
  }

  void close(size_t number) {
    ::close(clients_[number].socket);
    --open_;
    ask(number);
  }

  void send(size_t number) {
    Client& client = clients_[number];
    const ssize_t bytes = ::send(client.socket, client.unsent.data(), client.unsent.size(), MSG_NOSIGNAL);
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (bytes < 0) {
      tally_.failed(fmt::format("asking: {}", std::strerror(errno)));
      return close(number);
    }
    client.unsent.erase(0, static_cast<size_t>(bytes));
    epoll_event event{.events = EPOLLIN, .data = {.u64 = number}};
    if (client.unsent.empty()) ::epoll_ctl(epoll_, EPOLL_CTL_MOD, client.socket, &event);
  }

  void read(size_t number) {
    Client& client = clients_[number];
    if (!client.unsent.empty()) return send(number);
    std::array<char, 1 << 16> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by recv
    const ssize_t bytes = ::recv(client.socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (bytes > 0) {
      client.received.append(buffer.data(), static_cast<size_t>(bytes));
      return count_parts(client);
    }
    const std::string_view received = client.received;
    if (!received.starts_with("HTTP/1.1 200"))
      tally_.failed(received.empty() ? fmt::format("no answer: {}", bytes < 0 ? std::strerror(errno) : "closed")
                                     : "status " + client.received.substr(9, 3));
    else if (received.find("data: [DONE]") == std::string_view::npos)
      tally_.failed("cut off");
    else
      tally_.finished(client.answer);
    close(number);
  }

  // Events with text: "text":"…" that is not empty.
  void count_parts(Client& client) {
    static constexpr std::string_view kText = "\"text\":";
    const std::string& received = client.received;
    for (size_t at; (at = received.find(kText, client.looked_at)) != std::string::npos;) {
      at += kText.size();
      if (at < received.size() && received[at] == ' ') ++at;
      if (at + 1 >= received.size()) return;
      if (received[at + 1] != '"') tally_.heard(client.answer);
      client.looked_at = at + 1;
    }
    client.looked_at = std::max(client.looked_at, received.size() - std::min(received.size(), kText.size()));
  }

  const ServeBench& options_;
  const sockaddr_in address_;
  const std::vector<std::string> prompts_;
  const nlohmann::ordered_json fields_;
  Tally& tally_;
  std::vector<Client> clients_;
  const int epoll_;
  int64_t open_ = 0;
  size_t next_ = 0;
};

}  // namespace

nlohmann::ordered_json bench_serve(const ServeBench& options) {
  Tally tally(options);
  Clients(options, tally).run();
  nlohmann::ordered_json result = {{"bench", "serve"}, {"address", options.address}};
  result.update(tally.result(options));
  return result;
}

nlohmann::ordered_json bench_engine(const EngineBench& options) {
  const LoadedModel loaded = load_model(options.model);
  const std::vector<std::string> prompts = read_prompts(options.prompts);
  const Tokenizer& tokenizer = loaded.writer();
  Engine engine(*loaded.model, {.max_batch = options.batch});
  Tally tally(options);
  size_t next = 0;
  const std::function<void()> ask = [&] {
    CompletionRequest request{.ids = input_ids(loaded, prompts[next++ % prompts.size()])};
    request.options.sampling.temperature = 0;
    request.options.max_tokens = options.tokens;
    request.options.ignore_end = true;
    const auto answer = std::make_shared<Tally::Answer>();
    request.listener = [&tally, answer](const CompletionPart& part) {
      if (!part.text.empty()) tally.heard(*answer);
      return true;
    };
    engine.add(make_completion(loaded.model->config(), tokenizer, std::move(request), [&, answer](const Completion&) {
      tally.finished(*answer);
      if (!tally.over()) ask();
    }));
  };
  for (int64_t i = 0; i < options.clients; ++i) ask();
  while (engine.step()) {
  }
  nlohmann::ordered_json result = {{"bench", "engine"}, {"model", options.model}};
  result.update(tally.result(options));
  return result;
}

}  // namespace limpid
