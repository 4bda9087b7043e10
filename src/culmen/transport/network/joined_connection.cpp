#include "culmen/transport/network/joined_connection.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include "culmen/base/error.hpp"
#include "culmen/base/machine.hpp"
#include "culmen/base/span.hpp"
#include "culmen/transport/network/scheme.hpp"
#include "culmen/transport/network/unreached.hpp"
#include "culmen/transport/network/wire.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace culmen {
namespace {
using asio::use_awaitable;
using asio::ip::tcp;
}  // namespace

/// Turns all errors into sentences.
template <class Work>
void JoinedConnection::guarded(Work work) {
  const auto from = [this] { return to_string(options_.address); };
  try {
    work();
  } catch (const boost::system::system_error& e) {
    const auto why = fmt::format("{}: {}", from(), why_unreached(options_.address, e.code()));
    if (is_unknown_host(e.code())) throw UnknownHost(why);
    throw TransportError(why);
  } catch (const TransportError&) {
    throw;
  } catch (const InputError& e) {
    throw InputError(fmt::format("{}: {}", from(), e.what()));
  } catch (const Error& e) {
    throw TransportError(fmt::format("{} sent bytes that cannot be read: {}", from(), e.what()));
  }
}

Bytes JoinedConnection::open(double at_most_s) {
  Bytes block;
  guarded([&] {
    std::exception_ptr failed;
    asio::steady_timer deadline(io_, span_of(at_most_s));
    deadline.async_wait([this](const boost::system::error_code& cancelled) {
      if (!cancelled) io_.stop();
    });
    asio::co_spawn(io_, meet(), [&](std::exception_ptr e, Bytes first) {
      failed = e;
      block = std::move(first);
      io_.stop();
    });
    io_.run();
    if (failed) std::rethrow_exception(failed);
    if (block.empty()) throw TransportError(fmt::format("{}: {}", to_string(options_.address), why_silent(at_most_s)));
    stream_->become_blocking();
  });
  BytesView rest = block, body;
  FrameHead head;
  next_frame(rest, head, body);
  const auto from = to_string(options_.address);
  if (head.kind == refusal) throw InputError(fmt::format("{} refused this worker: {}", from, text_in(body)));
  if (head.kind == farewell) throw TransportError(fmt::format("{} ended the connection: {}", from, text_in(body)));
  if (head.kind == bye) return block;
  if (head.kind != welcome) throw TransportError(fmt::format("{} did not answer the greeting", from));
  return {rest.begin(), rest.end()};
}

asio::awaitable<Bytes> JoinedConnection::meet() {
  const auto executor = io_.get_executor();
  const auto& address = options_.address;
  tcp::resolver resolver(executor);
  const auto found = co_await resolver.async_resolve(address.host, std::to_string(address.port), use_awaitable);
  tcp::socket socket(executor);
  co_await asio::async_connect(socket, found, use_awaitable);
  stream_ = scheme_named(address.scheme).stream({Side::worker, std::move(socket), host_and_port(address), tls_, {}});
  descriptor_ = stream_->descriptor();
  co_await stream_->open();
  Bytes out;
  const Greeting said{options_.token, options_.work, fmt::format("{}:{}", host_name(), getpid())};
  append_frame(out, head_of(greeting), encode(said));
  co_await stream_->write(asio::buffer(out.data(), out.size()));
  auto first = incoming_.take(network_body_bytes);
  while (first.empty()) {
    const auto room = incoming_.room();
    const auto bytes = co_await stream_->read_some(asio::buffer(room.data(), room.size()));
    incoming_.filled(bytes);
    try {
      first = incoming_.take(network_body_bytes);
    } catch (const Error&) {
      throw InputError("what answers there is no culmen run; give the address that the run prints");
    }
  }
  co_return first;
}

Bytes JoinedConnection::read() {
  Bytes block;
  guarded([&] {
    block = incoming_.take(network_body_bytes);
    while (block.empty()) {
      const auto room = incoming_.room();
      incoming_.filled(stream_->read_now(asio::buffer(room.data(), room.size())));
      block = incoming_.take(network_body_bytes);
    }
  });
  return block;
}

Bytes JoinedConnection::read_what_came() { return read_without_waiting(false); }
Bytes JoinedConnection::read_what_seems_there() { return read_without_waiting(true); }

Bytes JoinedConnection::read_without_waiting(bool is_quick) {
  Bytes block;
  guarded([&] {
    block = incoming_.take(network_body_bytes);
    while (block.empty()) {
      if (is_quick && !stream_->seems_readable()) return;
      const auto room = incoming_.room();
      const auto bytes = stream_->read_what_came(asio::buffer(room.data(), room.size()));
      if (bytes == 0) return;
      incoming_.filled(bytes);
      block = incoming_.take(network_body_bytes);
    }
  });
  return block;
}

void JoinedConnection::write(BytesView frames) {
  guarded([&] { stream_->write_now(asio::buffer(frames.data(), frames.size())); });
}

void JoinedConnection::shut() noexcept {
  io_.stop();
  if (const int descriptor = descriptor_; descriptor >= 0) shutdown(descriptor, SHUT_RDWR);
}

}  // namespace culmen
