#include "culmen/study/source/executor_source.hpp"

#include <fmt/format.h>

#include <utility>

#include "culmen/base/error.hpp"

namespace culmen {
namespace {
constexpr std::byte wants_function{2};

void check_size(const Item& item) {
  const auto bytes = item.function->pickle.size() + item.arguments.size();
  if (bytes <= ExecutorSource::largest_item_bytes) return;
  throw InputError(
      fmt::format("function and arguments are {} bytes when pickled; at most {} can be sent to a worker: "
                  "hand over the name of a file instead",
                  bytes, ExecutorSource::largest_item_bytes));
}
}  // namespace

std::shared_ptr<const ItemFunction> ExecutorSource::make_function(SharedBytes pickle) {
  const std::lock_guard lock(mutex_);
  return std::make_shared<ItemFunction>(ItemFunction{functions_++, std::move(pickle)});
}

bool ExecutorSource::push(std::vector<Item> items) {
  for (const auto& item : items) check_size(item);
  const std::lock_guard lock(mutex_);
  if (shut()) throw InputError("this executor was shut down; it accepts no more calls");
  for (auto& item : items) {
    const auto id = item.id;
    queue_.emplace(id, std::move(item));
  }
  return std::exchange(hungry_, false);
}

bool ExecutorSource::holds(ItemId id) const {
  const std::lock_guard lock(mutex_);
  return queue_.contains(id);
}

bool ExecutorSource::cancel_item(ItemId id) {
  const std::lock_guard lock(mutex_);
  return queue_.erase(id) == 1;
}

std::vector<ItemId> ExecutorSource::cancel_all() {
  const std::lock_guard lock(mutex_);
  std::vector<ItemId> ids;
  for (const auto& [id, item] : queue_) ids.push_back(id);
  queue_.clear();
  return ids;
}

void ExecutorSource::give(Item item, bool was_asked_for, std::vector<Candidate>& out) {
  Bytes payload;
  const auto& f = *item.function;
  const bool unasked = f.sent < 2 * workers_ && f.pickle.size() <= small_function_bytes;  // one waits ahead, as a rule
  const BytesView pickle = was_asked_for || unasked ? BytesView(f.pickle) : BytesView{};
  f.sent += !pickle.empty();
  payload.reserve(2 * sizeof(std::uint64_t) + pickle.size() + item.arguments.size());
  ByteWriter w(payload);
  w.u64(f.number);
  w.blob(pickle);
  w.raw(item.arguments.data(), item.arguments.size());
  out.push_back({next_, {}, std::move(payload)});
  sent_.emplace(next_++, std::move(item));
}

std::size_t ExecutorSource::ask(std::size_t n, std::vector<Candidate>& out) {
  const std::lock_guard lock(mutex_);
  std::size_t given = 0;
  for (; given < n && !again_.empty(); ++given) {
    give(std::move(again_.front()), true, out);
    again_.pop_front();
  }
  for (; given < n && !queue_.empty(); ++given) give(std::move(queue_.extract(queue_.begin()).mapped()), false, out);
  hungry_ = given < n;
  return given;
}

void ExecutorSource::tell(EvaluationId id, Outcome& outcome) {
  const std::lock_guard lock(mutex_);
  auto node = sent_.extract(id);
  if (!evaluated(outcome)) return again_.push_back(std::move(node.mapped()));
  finish(node.mapped().id, std::move(outcome));
}

bool ExecutorSource::evaluated(const Outcome& outcome) const {
  return !outcome.ok() || outcome.payload.size() != 1 || outcome.payload[0] != wants_function;
}

void ExecutorSource::resize(std::size_t workers) {
  const std::lock_guard lock(mutex_);
  workers_ = workers;
}

void ExecutorSource::cancel(EvaluationId id) {
  const std::lock_guard lock(mutex_);
  sent_.erase(id);
}

bool ExecutorSource::finished() const {
  const std::lock_guard lock(mutex_);
  return closed_ && queue_.empty() && again_.empty() && sent_.empty();
}

}  // namespace culmen
