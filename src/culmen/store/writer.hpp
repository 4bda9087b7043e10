// The thread that owns a Journal while a study runs. It commits whenever it is idle and rows are queued: at most 5 ms
// or 1000 rows late.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "culmen/store/journal.hpp"

namespace culmen {

/// Records get tickets 1, 2, 3, … in the order of push. push, durable and error may be called from one thread (the
/// engine's).
class Recorder {
 public:
  virtual ~Recorder() = default;
  virtual std::uint64_t push(CallRecord call) = 0;
  virtual std::uint64_t push(OutcomeRecord outcome) = 0;
  /// The evaluation that has run longest, for readers of the store; none if all are short.
  virtual void running(const std::optional<Running>&) {}
  /// Every record up to this ticket is durable.
  virtual std::uint64_t durable() const = 0;
  /// Not empty if writing failed; nothing more is written then.
  virtual std::string error() const = 0;
  /// Writes and commits all queued rows, gives up ownership and closes. Throws StoreError if that fails.
  virtual void close() = 0;
};

/// Recorder over a thread, which sleeps without work. The queue is bounded (push waits if the disk is
/// 100 000 rows behind). The thread also renews the ownership, every `renewal`; another thread copies the write-ahead
/// log into the file.
class Writer final : public Recorder {
 public:
  /// The writer's thread calls `on_change` after every commit and after an error.
  Writer(Journal journal, std::function<void()> on_change,
         std::chrono::milliseconds renewal = std::chrono::seconds(10));
  ~Writer() override;  ///< joins the thread; uncommitted records are written first, errors are ignored
  std::uint64_t push(CallRecord call) override;
  std::uint64_t push(OutcomeRecord outcome) override;
  void running(const std::optional<Running>& oldest) override;
  std::uint64_t durable() const override;
  std::string error() const override;
  void close() override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace culmen
