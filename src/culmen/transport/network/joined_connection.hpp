// A worker's connection to its master. The thread that uses it waits in it.
#pragma once
#include <atomic>
#include <memory>
#include <string>

#include "culmen/transport/network/byte_stream.hpp"
#include "culmen/transport/network/incoming.hpp"
#include "culmen/transport/network/joined_endpoint.hpp"

#include <boost/asio/io_context.hpp>

namespace culmen {

/// One thread at a time uses it.
class JoinedConnection {
 public:
  /// The options outlive it. `tls`: for an encrypted scheme.
  JoinedConnection(const JoinOptions& options, std::shared_ptr<Tls> tls) : options_(options), tls_(std::move(tls)) {}
  /// Connects and waits at most `at_most_s` for the welcome. Returns the frames that came with it, or the bye in its
  /// place. Throws InputError if the master refuses this worker, or if another program answers. Throws UnknownHost or
  /// another TransportError with a sentence if the master is not reached.
  Bytes open(double at_most_s);
  /// Whole frames, at least one. Throws TransportError with a sentence at the end of the connection.
  Bytes read();
  /// The same without waiting: empty if no whole frame is there. Then the descriptor can be read once more came.
  Bytes read_what_came();
  /// Cheaper: may be empty although something is there. The next read() gives that.
  Bytes read_what_seems_there();
  /// Frames, as on the wire. Returns when the system has them. Throws TransportError.
  void write(BytesView frames);
  /// After open().
  int descriptor() const { return descriptor_; }
  /// Ends what waits; from now on, everything throws TransportError. Any thread.
  void shut() noexcept;

 private:
  Bytes read_without_waiting(bool is_quick);
  /// The first frames of the master.
  asio::awaitable<Bytes> meet();
  template <class Work>
  void guarded(Work work);

  const JoinOptions& options_;
  std::shared_ptr<Tls> tls_;
  asio::io_context io_;  // for open()
  std::unique_ptr<ByteStream> stream_;
  std::atomic<int> descriptor_ = -1;
  Incoming incoming_;
};

}  // namespace culmen
