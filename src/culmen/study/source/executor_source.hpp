// The calls of an Executor as candidates: any thread adds items to a queue, and the engine takes them.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "culmen/base/shared_bytes.hpp"
#include "culmen/study/source/program_source.hpp"

namespace culmen {

using ItemId = std::uint64_t;

/// A pickled function. Its number is the source's own.
struct ItemFunction {
  std::uint64_t number;
  SharedBytes pickle;
  mutable std::uint64_t sent = 0;  ///< how often it was sent; only the source uses it
};

struct Item {
  ItemId id = 0;  ///< chosen by the caller, each only once; items with lower ids are sent first
  std::shared_ptr<const ItemFunction> function;
  Bytes arguments;  ///< opaque
};

/// A candidate has no parameters; its payload is u64 number of the function | blob its pickle, or nothing | the
/// arguments. A small function travels with the first items, so that usually every slot receives it. A slot that does
/// not know the function asks for it. The item is then sent again, before all others and with the function. The payload
/// of an outcome: u8 kind (python/culmen/slot/items.py), then a pickle.
class ExecutorSource final : public ProgramSource {
 public:
  /// An item and its function may be this large together: less than a frame, because both travel in one.
  static constexpr std::size_t largest_item_bytes = (std::size_t{1} << 30) - 4096;
  static constexpr std::size_t small_function_bytes = std::size_t{64} << 10;

  std::shared_ptr<const ItemFunction> make_function(SharedBytes pickle);
  /// True if the engine must be told (Engine::offer). Throws InputError after close(), and for an item that is too
  /// large; then it takes none of `items`.
  bool push(std::vector<Item> items);
  /// True until the item is given to the engine or cancelled.
  bool holds(ItemId id) const;
  /// True if the item will not be evaluated. False if it was already sent, or is unknown.
  bool cancel_item(ItemId id);
  /// Cancels all items that were not sent.
  std::vector<ItemId> cancel_all();
  std::size_t ask(std::size_t n, std::vector<Candidate>& out) override;
  void tell(EvaluationId id, Outcome& outcome) override;
  bool evaluated(const Outcome& outcome) const override;
  void cancel(EvaluationId id) override;
  void resize(std::size_t workers) override;
  bool finished() const override;
  std::string name() const override { return "executor"; }

 private:
  void give(Item item, bool was_asked_for, std::vector<Candidate>& out);

  std::map<ItemId, Item> queue_;  // in the order of their numbers
  std::deque<Item> again_;        // a slot has asked for their functions
  std::unordered_map<EvaluationId, Item> sent_;
  std::uint64_t functions_ = 0;
  std::size_t workers_ = 0;
};

}  // namespace culmen
