#include "culmen/simulation/modelled_writer.hpp"

#include <algorithm>

namespace culmen {
namespace {
constexpr std::uint64_t most_rows = 1000;
}

std::uint64_t ModelledWriter::push(CallRecord call) {
  calls_.push_back(std::move(call));
  return ++pushed_;
}

std::uint64_t ModelledWriter::push(OutcomeRecord outcome) {
  outcomes_.push_back(std::move(outcome));
  return ++pushed_;
}

void ModelledWriter::settle() {
  calls_.clear();
  outcomes_.clear();
  if (committing_ > 0 && due_s_ > clock_.now_s()) return;
  if (committing_ > 0) cluster_.remind(clock_.now_s());
  durable_ += std::exchange(committing_, 0);
  committing_ = std::min(pushed_ - durable_, most_rows);
  if (committing_ == 0) return;
  const double seconds = model_.commit_s + static_cast<double>(committing_) * model_.row_s;
  worked_s_ += seconds;
  due_s_ = clock_.now_s() + seconds;
  cluster_.remind(due_s_);
}

}  // namespace culmen
