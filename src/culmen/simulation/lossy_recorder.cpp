#include "culmen/simulation/lossy_recorder.hpp"

namespace culmen {

std::uint64_t LossyRecorder::push(CallRecord call) {
  journal_.append(call);
  return ++pushed_;
}

std::uint64_t LossyRecorder::push(OutcomeRecord outcome) {
  journal_.append(outcome);
  open_.push_back(outcome.evaluation);
  return ++pushed_;
}

void LossyRecorder::close() {
  commit();
  journal_.close();
}

void LossyRecorder::commit() {
  journal_.commit();
  durable_ = pushed_;
  durable_outcomes_.insert(open_.begin(), open_.end());
  open_.clear();
}

}  // namespace culmen
