#include "culmen/store/checkpointer.hpp"

#include "culmen/base/error.hpp"

namespace culmen {

Checkpointer::Checkpointer(Journal& journal) : journal_(journal), database_(journal.path(), Database::Mode::write) {
  // Before a first read SQLite does not know that there is a log.
  database_.execute("PRAGMA synchronous = NORMAL; SELECT count(*) FROM sqlite_schema");
  journal_.defer_checkpoints(most_pages);
  thread_ = std::thread([this] { run(); });
}

Checkpointer::~Checkpointer() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Checkpointer::after_commit() {
  const auto pages = journal_.log_pages();
  if (pages < asked_pages_) asked_pages_ = 0;  // a round had copied everything, so the log has restarted
  {
    std::unique_lock lock(mutex_);
    if (running_ && pages < 2 * most_pages) return;
    changed_.wait(lock, [&] { return !running_; });
  }
  const bool just_done = std::exchange(asked_, false);
  if (just_done && pages >= most_pages) return begin_anew(pages);
  if (pages - asked_pages_ >= round_pages) request(pages);
}

/// Little has come since the last round: if it is copied now, the next commit writes at the log's beginning.
void Checkpointer::begin_anew(std::uint64_t pages) {
  asked_pages_ = pages;
  journal_.checkpoint();
}

void Checkpointer::request(std::uint64_t pages) {
  asked_pages_ = pages;
  asked_ = true;
  {
    std::lock_guard lock(mutex_);
    running_ = true;
  }
  changed_.notify_all();
}

void Checkpointer::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return running_ || stopping_; });
    if (!running_) return;
    lock.unlock();
    try {
      database_.checkpoint(SQLITE_CHECKPOINT_PASSIVE);
    } catch (const StoreError&) {
      // Nothing is lost: the log has it, and the writer gets the same error before the log grows large.
    }
    lock.lock();
    running_ = false;
    changed_.notify_all();
  }
}

}  // namespace culmen
