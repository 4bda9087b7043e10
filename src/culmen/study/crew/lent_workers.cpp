#include "culmen/study/crew/lent_workers.hpp"

#include <fmt/format.h>

#include <utility>

#include "culmen/base/error.hpp"
#include "culmen/evaluation/codec.hpp"

namespace culmen {
namespace {

/// Gives the outcome that came from elsewhere.
class HandedEvaluator final : public Evaluator {
 public:
  explicit HandedEvaluator(Outcome& outcome) : outcome_(outcome) {}
  Outcome evaluate(const Candidate&, Attempt) override {
    outcome_.check_finite();
    return std::move(outcome_);
  }

 private:
  Outcome& outcome_;
};

class LentCrew final : public Crew {
 public:
  explicit LentCrew(std::shared_ptr<LentWorkers> workers) : workers_(std::move(workers)) {}
  Transport& transport() override { return workers_->transport(); }
  std::size_t workers() const override { return workers_->workers(); }
  void conclude(const StudyResult&) override {}

 private:
  std::shared_ptr<LentWorkers> workers_;
};

}  // namespace

LentWorkers::LentWorkers(std::size_t workers)
    : workers_(workers),
      transport_(workers),
      worker_([this](const SetUp&) { return std::make_unique<HandedEvaluator>(outcome_); }) {}

LentWorkers::~LentWorkers() = default;

/// One worker answers for all, under the lock.
void LentWorkers::answer(HandedFrame frame) {
  auto reply = worker_.on(frame.head, frame.body);
  transport_.answer({frame.worker, reply.head, std::move(reply.body)});
}

std::vector<LentWorkers::Work> LentWorkers::take(double at_most_s) {
  std::vector<Work> work;
  auto frames = transport_.take(at_most_s);
  const std::lock_guard lock(mutex_);
  for (auto& frame : frames) {
    last_head_ = frame.head;
    if (frame.head.kind != FrameKind::evaluate) {
      answer(std::move(frame));
      continue;
    }
    Candidate candidate;
    decode(frame.body, candidate);
    work.push_back({tickets_, std::move(candidate.x)});
    open_.emplace(tickets_++, std::move(frame));
  }
  return work;
}

void LentWorkers::give(std::uint64_t ticket, Outcome outcome) {
  const std::lock_guard lock(mutex_);
  auto node = open_.extract(ticket);
  if (node.empty()) throw Error(fmt::format("nothing with the ticket {} is being evaluated", ticket));
  if (outcome.ok() && !outcome.residuals.empty()) outcome.value = Outcome::of_residuals(outcome.residuals).value;
  outcome_ = std::move(outcome);
  answer(std::move(node.mapped()));
}

void LentWorkers::fail(const std::string& sentence) {
  const std::lock_guard lock(mutex_);
  HandedFrame trouble;
  trouble.head = last_head_;
  trouble.head.kind = FrameKind::trouble;
  ByteWriter(trouble.body).raw(sentence.data(), sentence.size());
  transport_.answer(std::move(trouble));
}

std::unique_ptr<Crew> make_lent_crew(std::shared_ptr<LentWorkers> workers) {
  return std::make_unique<LentCrew>(std::move(workers));
}

}  // namespace culmen
