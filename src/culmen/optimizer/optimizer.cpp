#include "culmen/optimizer/optimizer.hpp"

#include <fmt/format.h>

#include "culmen/base/error.hpp"

namespace culmen {

std::size_t Optimizer::ask(std::size_t n, std::vector<Candidate>& out) {
  const std::size_t before = out.size();
  do_ask(n, out);
  for (std::size_t k = before; k < out.size(); ++k) {
    out[k].id = next_;
    open_.insert(next_++);
  }
  return out.size() - before;
}

void Optimizer::tell(EvaluationId id, const Outcome& outcome) {
  close(id, "told");
  do_tell(id, outcome);
}

void Optimizer::cancel(EvaluationId id) {
  close(id, "cancelled");
  do_cancel(id);
}

void Optimizer::close(EvaluationId id, const char* what) {
  if (open_.erase(id) == 1) return;
  if (id < next_) {
    throw InputError(
        fmt::format("evaluation {} cannot be {}: it was told or cancelled before, once is allowed", id, what));
  }
  throw InputError(
      fmt::format("evaluation {} cannot be {}: it was never asked for, only {} have been", id, what, next_));
}

}  // namespace culmen
