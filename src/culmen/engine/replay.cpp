// Going on where a former master stopped: the optimizer is led through the same calls again.
#include <fmt/format.h>

#include "culmen/base/error.hpp"
#include "culmen/engine/engine.hpp"
#include "culmen/evaluation/codec.hpp"

namespace culmen {
namespace {
[[noreturn]] void differs(const Journal& journal, EvaluationId id, const std::string& build_now) {
  throw StoreError(
      fmt::format("{}: the optimizer now proposes another candidate {} than the journal holds; the store was made by "
                  "{}, this is {}; "
                  "resume with the build that made it",
                  journal.path(), id, journal.study().build, build_now));
}
}  // namespace

void Engine::replay(const Journal& journal) {
  show(Phase::replaying);
  journal.replay([&](const CallRecord& call) {
    switch (call.kind) {
      case CallKind::ask: {
        asked_.clear();
        const auto n = optimizer_.ask(call.wanted, asked_);
        const auto first = asked_.empty() ? optimizer_.asked() : asked_.front().id;
        if (n != call.candidates.size()) differs(journal, first + std::min(n, call.candidates.size()), options_.build);
        for (std::size_t i = 0; i < n; ++i) {
          if (!(asked_[i] == call.candidates[i])) differs(journal, asked_[i].id, options_.build);
          const auto hash = hash_of(asked_[i]);
          table_.add(std::move(asked_[i]), hash);
        }
        broker_.replay_ask(first, n);
        break;
      }
      case CallKind::tell:
        for (auto id : call.ids) {
          const auto record = journal.outcome(id);
          if (!record)
            throw StoreError(
                fmt::format("{}: evaluation {} was told, but its outcome is not in the journal: the file is damaged",
                            journal.path(), id));
          optimizer_.tell(id, record->outcome);
          note_best(id, record->outcome);
          broker_.replay_tell(id, record->outcome.ok(), record->outcome.value);
          table_.close(id);
        }
        break;
      case CallKind::cancel:
        for (auto id : call.ids) {
          optimizer_.cancel(id);
          broker_.replay_cancel(id);
          table_.close(id);
        }
        break;
      case CallKind::resize:
        optimizer_.resize(call.wanted);
        break;
      case CallKind::finish:
        break;
    }
  });
  journal.outcomes(broker_.first_open(), [&](const OutcomeRecord& record) {
    if (!table_.has(record.evaluation) || !table_[record.evaluation].open) return;
    table_[record.evaluation].outcome = record.outcome;
    broker_.replay_outcome(record.evaluation, record.outcome.ok(), record.outcome.value);
  });
}

}  // namespace culmen
