// Takes a limited number of items from a queue that may be long.
#pragma once
#include <cstddef>
#include <deque>
#include <iterator>

namespace culmen {

/// Removes the first `most` items from the queue and returns them; fewer if it has fewer.
template <class T>
std::deque<T> take_portion(std::deque<T>& queue, std::size_t most) {
  std::deque<T> out;
  if (queue.size() <= most) {
    out.swap(queue);
    return out;
  }
  const auto end = queue.begin() + static_cast<std::ptrdiff_t>(most);
  out.assign(std::make_move_iterator(queue.begin()), std::make_move_iterator(end));
  queue.erase(queue.begin(), end);
  return out;
}

}  // namespace culmen
