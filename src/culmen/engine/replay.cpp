// Resumes after a former master: the optimizer gets the same calls again.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "culmen/base/error.hpp"
#include "culmen/engine/engine.hpp"
#include "culmen/evaluation/codec.hpp"
#include "culmen/store/rescue.hpp"

namespace culmen {
namespace {
struct Interrupted {};  // leaves Journal::replay early

[[noreturn]] void differs(const Journal& journal, EvaluationId id, const std::string& build_now) {
  throw StoreError(fmt::format(
      "{}: the optimizer now proposes a candidate {} that differs from the journal's; the store was made by "
      "{}, this is {}; resume with the build that made it",
      journal.path(), id, journal.study().build, build_now));
}
}  // namespace

void Engine::replay(const Journal& journal) {
  try {
    journal.replay([&](const CallRecord& call) {
      replay_call(journal, call);
      show(Phase::replaying);
      if (stop_requested_ != StopReason::none) throw Interrupted();
    });
  } catch (const Interrupted&) {
    return stopped_in_replay(journal);
  }
  journal.outcomes(broker_.first_open(), [&](const OutcomeRecord& record) {
    if (!table_.open(record.evaluation)) return;
    table_[record.evaluation].outcome = record.outcome;
    broker_.replay_outcome(record.evaluation, record.outcome.ok(), merit_of(record.outcome),
                           record.outcome.residuals.size());
  });
  saved_.read(journal, source_.asked());
}

void Engine::replay_call(const Journal& journal, const CallRecord& call) {
  switch (call.kind) {
    case CallKind::ask:
      return replay_ask(journal, call);
    case CallKind::tell:
      for (auto id : call.ids) replay_told(journal, id);
      return;
    case CallKind::cancel:
      for (auto id : call.ids) {
        source_.cancel(id);
        broker_.replay_cancel(id);
        table_.close(id);
        replay_job();
      }
      return;
    case CallKind::resize:
      source_.resize(call.wanted);
      return replay_job();
    case CallKind::adopt:
      return replay_adopt(journal, call);
    case CallKind::finish:
      return;
    case CallKind::saved:
      return saved_.add(call.candidates);
  }
}

void Engine::replay_ask(const Journal& journal, const CallRecord& call) {
  asked_.clear();
  const auto n = source_.ask(call.wanted, asked_);
  const auto first = asked_.empty() ? source_.asked() : asked_.front().id;
  if (n != call.candidates.size()) differs(journal, first + std::min(n, call.candidates.size()), options_.build);
  for (std::size_t i = 0; i < n; ++i) {
    if (!(asked_[i] == call.candidates[i])) differs(journal, asked_[i].id, options_.build);
    const auto hash = hash_of(asked_[i]);
    table_.add(std::move(asked_[i]), hash);
  }
  broker_.replay_ask(n);
  replay_job();
}

void Engine::replay_job() {
  if (look_for_job()) broker_.replay_job(job_->id);
}

void Engine::replay_adopt(const Journal& journal, const CallRecord& call) {
  if (!job_ || job_->id != call.wanted) differs(journal, source_.asked(), options_.build);
  const auto job = *std::exchange(job_, {});
  broker_.replay_adopt();
  source_.adopt(job.id, job.work());
  replay_job();
}

void Engine::replay_told(const Journal& journal, EvaluationId id) {
  auto record = journal.outcome(id);
  if (!record)
    throw StoreError(
        fmt::format("{}: evaluation {} was told, but its outcome is not in the journal: the file is damaged; {}",
                    journal.path(), id, how_to_rescue(journal.path())));
  source_.tell(id, record->outcome);
  note(id, record->outcome);
  broker_.replay_tell(id, record->outcome.ok(), merit_of(record->outcome), record->outcome.residuals.size());
  table_.close(id);
  replay_job();
}

/// The counts at the end are the journal's: the replay saw only a part.
void Engine::stopped_in_replay(const Journal& journal) {
  const auto summary = journal.summary();
  result_.message = "interrupted while earlier evaluations were replayed; the store is unchanged";
  result_.counts.told = summary.told;
  result_.has_best = summary.best && summary.best_candidate;
  if (!result_.has_best) return;
  result_.best = *summary.best_candidate;
  result_.best_outcome = summary.best->outcome;
}

}  // namespace culmen
