#include "culmen/store/writer.hpp"

#include <atomic>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "culmen/base/error.hpp"
#include "culmen/store/checkpointer.hpp"

namespace culmen {
namespace {
using namespace std::chrono_literals;
using SteadyTime = std::chrono::steady_clock::time_point;

constexpr std::uint64_t most_behind = 100'000;  // rows
constexpr std::uint64_t most_rows = 1000;       // of one commit
constexpr auto most_late = 5ms;

using Item = std::variant<CallRecord, OutcomeRecord>;
}  // namespace

struct Writer::Impl {
  Impl(Journal opened, std::function<void()> changed, std::chrono::milliseconds period)
      : journal(std::move(opened)), on_change(std::move(changed)), renewal(period) {}

  std::uint64_t push(Item item);
  void run();
  void write_until_stopped();
  bool take(bool idle_wait, SteadyTime until);
  void commit();
  void fail(const std::string& sentence);
  void stop();

  Journal journal;
  std::optional<Checkpointer> checkpointer{journal};
  std::function<void()> on_change;
  std::chrono::milliseconds renewal;
  std::vector<Item> batch;                     // owned by the thread
  std::uint64_t written = 0;                   // owned by the thread: rows appended
  std::optional<std::optional<Running>> news;  // owned by the thread: not in the journal yet
  std::atomic<std::uint64_t> durable = 0;

  mutable std::mutex mutex;
  std::condition_variable work, room;
  std::vector<Item> queue;
  std::uint64_t pushed = 0;
  std::optional<Running> oldest;
  bool oldest_changed = false;
  std::string failure;
  bool stopping = false;
  std::thread thread;
};

std::uint64_t Writer::Impl::push(Item item) {
  std::unique_lock lock(mutex);
  assert(!stopping && "nothing is pushed after close()");
  room.wait(lock, [&] { return pushed - durable < most_behind || !failure.empty(); });
  if (failure.empty()) {
    queue.push_back(std::move(item));
    if (queue.size() == 1) work.notify_one();
  }
  return ++pushed;
}

/// Moves the queue into `batch`; waits only if told to. False if the writer must stop and the queue is
/// empty.
bool Writer::Impl::take(bool idle_wait, SteadyTime until) {
  std::unique_lock lock(mutex);
  if (idle_wait) work.wait_until(lock, until, [&] { return stopping || oldest_changed || !queue.empty(); });
  batch.swap(queue);
  if (std::exchange(oldest_changed, false)) news = oldest;
  return !stopping || !batch.empty();
}

void Writer::Impl::write_until_stopped() {
  auto renew_at = std::chrono::steady_clock::now() + renewal;
  SteadyTime first{};  // when the oldest row without a commit was taken
  for (;;) {
    const bool waiting = written == durable;
    const bool more = take(waiting, renew_at);
    const auto now = std::chrono::steady_clock::now();
    if (waiting) first = now;
    for (const auto& item : batch) {
      std::visit([&](const auto& record) { journal.append(record); }, item);
      if (++written - durable >= most_rows) commit();
    }
    if (written != durable && (batch.empty() || now - first >= most_late)) commit();
    batch.clear();
    if (!more && written == durable) return;
    if (news) journal.show_running(*news);
    news.reset();
    if (now < renew_at) continue;
    journal.renew_ownership();
    renew_at = now + renewal;
  }
}

void Writer::Impl::commit() {
  journal.commit();
  {
    std::lock_guard lock(mutex);
    durable = written;
  }
  room.notify_all();
  on_change();
  checkpointer->after_commit();
}

void Writer::Impl::fail(const std::string& sentence) {
  {
    std::lock_guard lock(mutex);
    failure = sentence;
    queue.clear();
  }
  room.notify_all();
  on_change();
}

void Writer::Impl::run() try { write_until_stopped(); } catch (const std::exception& error) {
  fail(error.what());
}

void Writer::Impl::stop() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  work.notify_one();
  if (thread.joinable()) thread.join();
}

Writer::Writer(Journal journal, std::function<void()> on_change, std::chrono::milliseconds renewal)
    : impl_(std::make_unique<Impl>(std::move(journal), std::move(on_change), renewal)) {
  impl_->thread = std::thread([impl = impl_.get()] { impl->run(); });
}
Writer::~Writer() { impl_->stop(); }

std::uint64_t Writer::push(CallRecord call) { return impl_->push(std::move(call)); }
std::uint64_t Writer::push(OutcomeRecord outcome) { return impl_->push(std::move(outcome)); }
void Writer::running(const std::optional<Running>& oldest) {
  std::lock_guard lock(impl_->mutex);
  if (oldest == impl_->oldest) return;
  impl_->oldest = oldest;
  impl_->oldest_changed = true;
  impl_->work.notify_one();
}

std::uint64_t Writer::durable() const { return impl_->durable; }

std::string Writer::error() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->failure;
}

void Writer::close() {
  impl_->stop();
  impl_->checkpointer.reset();
  if (!impl_->failure.empty()) throw StoreError(impl_->failure);
  impl_->journal.close();
}

}  // namespace culmen
