// A TCP connection whose calls block, for a thread that has nothing else to do.
#pragma once
#include <mutex>
#include <string>

#include "culmen/base/bytes.hpp"
#include "culmen/transport/network/address.hpp"

namespace culmen {

/// One thread calls everything but interrupt(). Everything throws TransportError if the connection fails.
class BlockingSocket {
 public:
  BlockingSocket() = default;
  ~BlockingSocket() { close(); }
  BlockingSocket(const BlockingSocket&) = delete;
  BlockingSocket& operator=(const BlockingSocket&) = delete;
  bool is_open() const { return fd_ >= 0; }
  /// Looking the host up may take longer.
  void connect(const Address& address, double at_most_s = 120);
  /// From now on read_all() fails if nothing arrives for this time.
  void expect_within(double seconds);
  void write(BytesView bytes);
  /// All bytes until the other side ends the connection.
  Bytes read_all();
  void close() noexcept;
  /// Ends a call of now and all later ones. Any thread.
  void interrupt() noexcept;

 private:
  double longest_silence_s_ = 0;
  std::mutex mutex_;  // of the next two
  int fd_ = -1;
  bool interrupted_ = false;
};

}  // namespace culmen
