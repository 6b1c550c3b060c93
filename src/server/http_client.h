#pragma once
// A client for tests: plain sockets, so that it can also send what no HTTP library would.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>

namespace limpid {

class HttpClient {
 public:
  explicit HttpClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    ::inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  ~HttpClient() { close(); }

  bool connected() const { return connected_; }
  void close() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }
  void finish_sending() { ::shutdown(socket_, SHUT_WR); }

  bool send(const std::string& bytes) {
    for (size_t sent = 0; sent < bytes.size();) {
      const ssize_t count = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) return false;
      sent += static_cast<size_t>(count);
    }
    return true;
  }

  // What comes until the text appears, the other side closes or the time is over.
  std::string receive_until(const std::string& text, double seconds = 10) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    while (text.empty() || received_.find(text) == std::string::npos) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
      pollfd ready{socket_, POLLIN, 0};
      if (left <= 0 || ::poll(&ready, 1, static_cast<int>(left)) <= 0) break;
      char buffer[16384];
      const ssize_t count = ::recv(socket_, buffer, sizeof buffer, 0);
      if (count <= 0) {
        closed_ = true;
        break;
      }
      received_.append(buffer, static_cast<size_t>(count));
    }
    return received_;
  }
  std::string receive_all(double seconds = 10) { return receive_until("", seconds); }
  bool closed() const { return closed_; }

 private:
  int socket_;
  bool connected_ = false, closed_ = false;
  std::string received_;
};

struct HttpAnswer {
  int status = 0;  // 0: none came
  std::string head, body;
};

inline HttpAnswer parse_answer(const std::string& text) {
  HttpAnswer answer;
  const size_t end = text.find("\r\n\r\n");
  if (!text.starts_with("HTTP/1.1 ") || end == std::string::npos) return answer;
  answer.status = std::atoi(text.c_str() + 9);
  answer.head = text.substr(0, end);
  answer.body = text.substr(end + 4);
  return answer;
}

inline std::string request_text(const std::string& method, const std::string& path, const std::string& body = "",
                                const std::string& headers = "") {
  std::string text = method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers;
  if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return text + "\r\n" + body;
}

// One request on a connection of its own.
inline HttpAnswer ask(int port, const std::string& method, const std::string& path, const std::string& body = "",
                      const std::string& headers = "", double seconds = 30) {
  HttpClient client(port);
  client.send(request_text(method, path, body, headers));
  return parse_answer(client.receive_all(seconds));
}

}  // namespace limpid
