#include "server/transport.h"

#include <boost/asio/post.hpp>
#include <thread>

#include "server/connection.h"
#include "server/workers.h"

namespace limpid {

using asio::ip::tcp;

struct Transport::Impl {
  Shared shared;
  tcp::acceptor acceptor{shared.io};
  asio::steady_timer pause{shared.io};
  std::thread thread;

  explicit Impl(TransportOptions options) { shared.options = std::move(options); }

  void listen() {
    const std::string& host = shared.options.host;
    try {
      tcp::resolver resolver(shared.io);
      const auto found = resolver.resolve(host == "*" ? "0.0.0.0" : host, std::to_string(shared.options.port),
                                          tcp::resolver::passive | tcp::resolver::numeric_service);
      const tcp::endpoint endpoint = *found.begin();
      acceptor.open(endpoint.protocol());
      acceptor.set_option(tcp::acceptor::reuse_address(true));
      acceptor.bind(endpoint);
      acceptor.listen(tcp::acceptor::max_listen_connections);
    } catch (const boost::system::system_error& error) {
      fail("[server] cannot listen on {} port {}: {}: choose another host or port", host, shared.options.port,
           error.code().message());
    }
  }

  void accept() {
    acceptor.async_accept([this](boost::system::error_code code, tcp::socket socket) {
      if (code == asio::error::operation_aborted || !acceptor.is_open()) return;
      if (code) {  // out of files, say: connections that end will give some back
        pause.expires_after(std::chrono::milliseconds(100));
        pause.async_wait([this](boost::system::error_code stopped) {
          if (!stopped) accept();
        });
        return;
      }
      const auto connection = std::make_shared<Connection>(shared, std::move(socket));
      shared.open[connection.get()] = connection;
      if (shared.connections > shared.options.limits.connections)
        connection->refuse_and_close(429, "Too many connections.", {{"Retry-After", "1"}});
      else
        connection->start();
      accept();
    });
  }

  template <class Act>
  void for_each_open(Act act) {
    const auto open = shared.open;
    for (const auto& [pointer, weak] : open)
      if (const auto connection = weak.lock()) act(*connection);
  }
};

Transport::Transport(TransportOptions options) : impl_(std::make_unique<Impl>(std::move(options))) { impl_->listen(); }

Transport::~Transport() { stop(std::chrono::duration<double>(0)); }

int Transport::port() const { return impl_->acceptor.local_endpoint().port(); }
int64_t Transport::connections() const { return impl_->shared.connections; }
int64_t Transport::requests() const { return impl_->shared.requests; }

void Transport::start() {
  check(!impl_->thread.joinable(), "[server] it has been started already");
  impl_->thread = std::thread([this] {
    block_signals();
    const auto work = asio::make_work_guard(impl_->shared.io);
    impl_->accept();
    impl_->shared.io.run();
  });
}

void Transport::stop(std::chrono::duration<double> grace) {
  if (!impl_->thread.joinable()) return;
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(grace);
  const auto on_thread = [&](auto act) { asio::post(impl_->shared.io, act); };
  on_thread([this] {
    impl_->shared.closing = true;
    boost::system::error_code ignored;
    impl_->acceptor.close(ignored);
    impl_->for_each_open([](Connection& connection) { connection.close_if_idle(); });
  });
  const auto wait_until = [&](Clock::time_point end) {
    while (impl_->shared.requests > 0 && Clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  };
  wait_until(until);
  on_thread([this] { impl_->for_each_open([](Connection& connection) { connection.cancel_answer(); }); });
  wait_until(Clock::now() + std::chrono::milliseconds(500));  // time for those to say that they were cut
  on_thread([this] {
    impl_->for_each_open([](Connection& connection) { connection.close(); });
    asio::post(impl_->shared.io, [this] { impl_->shared.io.stop(); });
  });
  impl_->thread.join();
}

}  // namespace limpid
