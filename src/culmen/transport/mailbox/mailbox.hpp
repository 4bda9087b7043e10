// Shared memory with futex doorbells: one transport for threads, local processes and the MPI ranks of one node.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "culmen/base/process.hpp"
#include "culmen/transport/transport.hpp"

namespace culmen {

struct MailboxOptions {
  std::size_t workers = 1;
  std::size_t ring_bytes = 32 * 1024;  ///< per worker and direction; a power of two, at least 4096
};

/// The memory: a hub (the master's bell, the bitmap of workers with news) and, per worker, a box of
/// two byte rings. Fixed size; the pages are reserved at creation (posix_fallocate), so that a later store cannot be a
/// SIGBUS.
class MailboxMemory {
 public:
  /// Anonymous (memfd), for threads and for children that inherit fd(). Throws TransportError with the needed bytes and
  /// advice.
  static std::shared_ptr<MailboxMemory> create(const MailboxOptions& options);
  /// POSIX shared memory, for MPI ranks of the node; the name is fresh and stands until unlink(). Throws TransportError
  /// with the bytes that are needed and those that are free in /dev/shm.
  static std::shared_ptr<MailboxMemory> create_named(const MailboxOptions& options);
  /// In a child that inherited the descriptor, which the caller keeps; checks size and layout version. Throws
  /// TransportError.
  static std::shared_ptr<MailboxMemory> attach(int fd);
  static std::shared_ptr<MailboxMemory> attach(const std::string& name);
  ~MailboxMemory();
  MailboxMemory(const MailboxMemory&) = delete;
  MailboxMemory& operator=(const MailboxMemory&) = delete;

  int fd() const;                   ///< closed on exec, unless duplicated by dup2; -1 when attached
  const std::string& name() const;  ///< empty unless named
  void unlink() noexcept;           ///< removes the name; harmless when repeated; the creator's destructor does it too
  std::size_t workers() const;
  struct Layout;
  Layout& layout() const;

 private:
  struct Impl;
  explicit MailboxMemory(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The master's side. A watcher thread (epoll over pidfds) notices dead worker processes.
class MailboxTransport final : public Transport {
 public:
  /// `first_number`: that of worker 0 in messages.
  explicit MailboxTransport(std::shared_ptr<MailboxMemory> memory, WorkerId first_number = 0);
  ~MailboxTransport() override;
  /// Watch this process for worker `worker`; when it dies, the worker is lost (unless it had left). `ours`: close()
  /// kills it if it does not leave, and reaps it.
  void watch(WorkerId worker, const ProcessId& process, bool ours);

  void send(WorkerId worker, const FrameHead& head, BytesView body) override;
  bool receive(Sink& sink) override;
  void sleep(double at_most_s) override;
  void wake() noexcept override;
  bool dismiss() override;
  void close(double grace_s) override;
  /// Of close(): workers that had joined and neither left nor died in time (and are not ours to kill). One that joins
  /// later finds no work.
  std::size_t remaining() const;
  /// Bytes queued at the master because rings were full.
  std::size_t queued_bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A worker's side: box number `worker`. Joins when constructed, leaves when destroyed. A thread of the master or
/// another process.
class MailboxEndpoint final : public Endpoint {
 public:
  MailboxEndpoint(std::shared_ptr<MailboxMemory> memory, WorkerId worker);
  ~MailboxEndpoint() override;
  bool receive(FrameHead& head, Bytes& body) override;
  bool try_receive(FrameHead& head, Bytes& body) override;
  int arrivals() override;
  bool send(const FrameHead& head, BytesView body) override;
  void wait_closed() override;
  void release() noexcept override;
  bool closed() const noexcept override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace culmen
