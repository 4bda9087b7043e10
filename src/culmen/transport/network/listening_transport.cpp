#include "culmen/transport/network/listening_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "culmen/base/descriptors.hpp"
#include "culmen/base/error.hpp"
#include "culmen/base/span.hpp"
#include "culmen/transport/network/secret.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace culmen {
namespace {
using asio::use_awaitable;
using asio::ip::tcp;

/// Writes the port that the system chose into the options.
void open_acceptor(tcp::acceptor& acceptor, ListenOptions& options) {
  try {
    tcp::resolver resolver(acceptor.get_executor());
    const auto found = resolver.resolve(options.address.host, std::to_string(options.address.port),
                                        tcp::resolver::passive | tcp::resolver::numeric_service);
    const auto endpoint = found.begin()->endpoint();
    acceptor.open(endpoint.protocol());
    acceptor.set_option(tcp::acceptor::reuse_address(true));
    acceptor.bind(endpoint);
    acceptor.listen(tcp::acceptor::max_listen_connections);
    options.address.port = acceptor.local_endpoint().port();
  } catch (const boost::system::system_error& e) {
    throw InputError(fmt::format("cannot listen at {}: {}; give another address, or port 0 for any free one",
                                 to_string(options.address), e.code().message()));
  }
}
}  // namespace

ListeningTransport::ListeningTransport(ListenOptions options)
    : options_(std::move(options)),
      scheme_(scheme_named(options_.address.scheme)),
      pages_(std::make_shared<WebPages>(options_.token, options_.status)),
      handshakes_(options_.handshakes),
      acceptor_(asio::make_strand(io_)) {
  if (scheme_.encrypted) {
    const auto certificate = options_.certificate.empty() ? make_certificate() : certificate_in(options_.certificate);
    tls_ = make_tls(certificate);
    fingerprint_ = fingerprint_of(certificate.chain);
  }
  open_acceptor(acceptor_, options_);
}

void ListeningTransport::start() {
  run(accept_all());
  for (std::size_t i = 0; i < std::max<std::size_t>(1, options_.io_threads); ++i)
    threads_.emplace_back([this] {
      pthread_setname_np(pthread_self(), io_thread_name);
      io_.run();
    });
}

void ListeningTransport::run(asio::awaitable<void> task) {
  asio::co_spawn(acceptor_.get_executor(), std::move(task), asio::detached);
}

void ListeningTransport::stop_accepting() {
  asio::post(acceptor_.get_executor(), [this] { acceptor_.close(); });
}

void ListeningTransport::end() {
  io_.stop();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

asio::awaitable<void> ListeningTransport::accept_all() {
  while (true) {
    boost::system::error_code failed;
    auto strand = asio::make_strand(io_);
    auto socket = std::make_shared<tcp::socket>(strand);
    co_await acceptor_.async_accept(*socket, asio::redirect_error(use_awaitable, failed));
    if (failed == asio::error::operation_aborted) co_return;
    if (failed) {  // too many open files, or a peer that is gone already
      asio::steady_timer pause(acceptor_.get_executor(), std::chrono::milliseconds(100));
      co_await pause.async_wait(use_awaitable);
      continue;
    }
    std::shared_ptr<DescriptorRoom> room;
    try {
      room = std::make_shared<DescriptorRoom>(1);
    } catch (const InputError& e) {  // evaluations need the files that are left
      const auto why = fmt::format("the run can take no more workers: {}", e.what());
      options_.refusals->note(why);
      handshakes_.end_oldest();
      asio::co_spawn(
          strand, [this, socket, why] { return send_off(socket, why); }, asio::detached);
      continue;
    }
    handshakes_.make_place();
    asio::co_spawn(
        strand, [this, socket, room] { return meet(socket, room); }, asio::detached);
  }
}

asio::awaitable<void> ListeningTransport::send_off(std::shared_ptr<tcp::socket> socket, std::string why) {
  const auto text = farewell_for(scheme_.opening, why);
  boost::system::error_code failed;
  socket->non_blocking(true, failed);
  socket->write_some(asio::buffer(text), failed);  // a new connection has room for this
  socket->close(failed);
  co_return;
}

Handshakes::Entry ListeningTransport::begin_handshake(const std::shared_ptr<Connection>& connection) {
  return {handshakes_, [weak = std::weak_ptr(connection)] {
            if (const auto there = weak.lock()) there->cut();
          }};
}

asio::awaitable<void> ListeningTransport::meet(std::shared_ptr<tcp::socket> socket,
                                               std::shared_ptr<DescriptorRoom> room) {
  bool goes = true;
  {
    const Handshakes::Entry handshake(handshakes_, [weak = std::weak_ptr(socket)] {
      if (const auto there = weak.lock())
        asio::post(there->get_executor(), [there] {
          boost::system::error_code ignored;
          there->close(ignored);
        });
    });
    const auto is_late = std::make_shared<bool>(false);
    asio::steady_timer deadline(socket->get_executor(), span_of(options_.handshake_s));
    deadline.async_wait([socket, is_late](const boost::system::error_code& cancelled) {
      boost::system::error_code ignored;
      if (!cancelled) *is_late = true, socket->cancel(ignored);
    });
    asio::steady_timer last(socket->get_executor(), span_of(options_.handshake_s) + longest_parting);
    last.async_wait([socket](const boost::system::error_code& cancelled) {
      boost::system::error_code ignored;
      if (!cancelled) socket->close(ignored);
    });
    goes = co_await turn_away(*socket, *is_late);
  }
  if (goes) co_return;
  auto stream =
      scheme_.stream({Side::master, std::move(*socket), options_.address.host, tls_, pages_, options_.silence_s});
  co_await serve(std::make_shared<Connection>(std::move(stream)));
}

/// False: it may stay. Otherwise it reads the refusal to its end before the connection ends: bytes that were not read
/// would delete the answer.
asio::awaitable<bool> ListeningTransport::turn_away(tcp::socket& socket, const bool& is_late) {
  Bytes first(opening_bytes);
  boost::system::error_code failed;
  const auto peeked = co_await socket.async_receive(asio::buffer(first), tcp::socket::message_peek,
                                                    asio::redirect_error(use_awaitable, failed));
  if (failed && is_late) {
    const auto why = farewell_for(scheme_.opening, why_late());
    co_await asio::async_write(socket, asio::buffer(why), asio::redirect_error(use_awaitable, failed));
  }
  if (failed || is_late) co_return true;
  const auto opening = opening_of(BytesView(first).first(peeked));
  if (opening == Opening::unknown || opening == scheme_.opening) co_return false;
  const auto why = objection_to(opening);
  options_.refusals->note(why);
  const auto answer = refusal_for(opening, why);
  co_await asio::async_write(socket, asio::buffer(answer), asio::redirect_error(use_awaitable, failed));
  if (!failed) socket.shutdown(tcp::socket::shutdown_send, failed);
  while (!failed) co_await socket.async_read_some(asio::buffer(first), asio::redirect_error(use_awaitable, failed));
  co_return true;
}

std::string ListeningTransport::objection_to(Opening opening) const {
  const auto* came = std::ranges::find(schemes(), opening, &Scheme::opening).operator->();
  const auto* pin = scheme_.encrypted ? ", with the --fingerprint that the run prints" : "";
  return fmt::format("it came with {0}://, and the run listens with {1}://; write {1}://{2}", came->word, scheme_.word,
                     pin);
}

std::string ListeningTransport::objection_to(const Greeting& said) const {
  if (said.version != CULMEN_VERSION)
    return fmt::format("it has culmen {}, and the run has culmen {}; install the same version on both", said.version,
                       CULMEN_VERSION);
  if (!same_secret(said.token, options_.token)) {
    if (said.token.empty())
      return "it gave no token; give a copy of the run's token file (--token-file, or token_file in a program)";
    const std::string wrong = "its token is not the one of this study";
    if (options_.token.empty()) return wrong + ", which has none; leave out --token-file (token_file in a program)";
    return wrong + "; give the token file of the run (--token-file, or token_file in a program)";
  }
  if (said.work.digest != options_.work.digest) {
    const auto difference = options_.work.difference(said.work);
    return fmt::format(
        "it was started with another study{}; copy the study and its model from the machine of the run, and fix the "
        "same parameters",
        difference.empty() ? "" : ": there is a difference in " + difference);
  }
  return {};
}

std::string ListeningTransport::why_late() const {
  return fmt::format("no greeting came within {:.3g} s", options_.handshake_s);
}

void ListeningTransport::refuse(Connection& connection, const std::string& why) const {
  options_.refusals->note(why);
  connection.send(head_of(refusal), std::as_bytes(std::span(why)));
  connection.finish();
}

bool ListeningTransport::receive(Sink& sink) {
  const auto some = arrivals_.take();
  for (const auto& arrival : some) deliver(arrival, sink);
  return !some.empty();
}

void ListeningTransport::deliver(const Arrival& arrival, Sink& sink) {
  if (std::holds_alternative<std::monostate>(arrival.what)) return sink.joined(arrival.worker);
  if (const auto* why = std::get_if<std::string>(&arrival.what))
    return sink.lost(arrival.worker, fmt::format("worker {}: {}", arrival.worker, *why));
  const auto& block = std::get<Bytes>(arrival.what);
  BytesView rest = block, body;
  FrameHead head;
  while (next_frame(rest, head, body))
    if (head.kind != life_sign) sink.arrived(arrival.worker, head, body);
  delivered(arrival.worker, block.size());
}

}  // namespace culmen
