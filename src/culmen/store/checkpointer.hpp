// Copies the write-ahead log into the file on its own thread; otherwise the writer would wait for the disk
// (https://www.sqlite.org/wal.html, "Checkpointing").
#pragma once
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>

#include "culmen/store/journal.hpp"
#include "culmen/store/sqlite.hpp"

namespace culmen {

/// A second connection on its own thread. The writer waits only for the log's last part, before the log restarts.
/// So the log stays below 32 MiB, or below twice that on a disk that is slower than the writer, unless a reader
/// holds it.
class Checkpointer {
 public:
  static constexpr std::uint64_t round_pages = 1000, most_pages = 8192;  // of 4 KiB

  /// For a journal that has checkpointed by itself until now.
  explicit Checkpointer(Journal& journal);
  /// Waits for the current round.
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  /// After each commit, on the writer's thread. Throws StoreError if the log can no longer be copied.
  void after_commit();

 private:
  void run();
  void request(std::uint64_t pages);
  void begin_anew(std::uint64_t pages);

  Journal& journal_;
  std::uint64_t asked_pages_ = 0;  // of the log, when the last round was requested
  bool asked_ = false;             // a round whose end has not been seen

  Database database_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool running_ = false, stopping_ = false;
  std::thread thread_;
};

}  // namespace culmen
