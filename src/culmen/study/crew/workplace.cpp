#include "culmen/study/crew/workplace.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "culmen/base/error.hpp"
#include "culmen/study/crew/places.hpp"
#include "culmen/transport/mpi/launcher.hpp"

namespace culmen {
namespace {

/// Workers join over a network. `own`: those that work from the start; may be null.
class OpenPlace final : public Workplace {
 public:
  OpenPlace(Listening listening, std::unique_ptr<Workplace> own)
      : listening_(std::move(listening)), own_(std::move(own)) {}
  /// Nobody knows how many will come. The number decides on the mode of the study.
  std::size_t workers() const override { return (own_ ? own_->workers() : 0) + expected; }
  std::size_t local_workers() const override { return own_ ? own_->local_workers() : 0; }
  bool starts_processes() const override { return own_ && own_->starts_processes(); }
  bool uses_ranks() const override { return own_ && own_->uses_ranks(); }
  bool has_own_workers() const override { return own_ != nullptr; }
  bool is_open() const override { return true; }
  void expect() override {
    if (own_) own_->expect();
  }
  void abandon(const Refusal& why) override {
    if (own_) own_->abandon(why);
  }
  std::unique_ptr<Crew> hire(const CrewRequest& request) override {
    std::unique_ptr<Crew> crew;
    if (own_) {
      auto own = request;
      own.workers = own_->workers();
      crew = own_->hire(own);
    }
    return make_network_crew(listening_, request, std::move(crew));
  }

 private:
  static constexpr std::size_t expected = 8;
  Listening listening_;
  std::unique_ptr<Workplace> own_;
};

struct PlaceRow {
  std::string_view word;
  bool is_chosen;  // by its word; the other is for those who lend workers
  std::unique_ptr<Workplace> (*make)(const WorkersWanted&);
};

/// Every place, in the order in which messages list them.
constexpr std::array place_table{
    PlaceRow{"auto", true, make_automatic_place},    PlaceRow{"threads", true, make_thread_place},
    PlaceRow{"processes", true, make_process_place}, PlaceRow{"mpi", true, make_rank_place},
    PlaceRow{"lent", false, make_lent_place},
};

[[noreturn]] void refuse_place(std::string_view word) {
  throw InputError(fmt::format("\"{}\" is not one of \"{}\"", word, fmt::join(place_words(), "\", \"")));
}

std::unique_ptr<Workplace> make_own(const WorkersWanted& wanted) {
  const std::string_view word = wanted.lent ? "lent" : std::string_view(wanted.place);
  const auto* row = std::ranges::find(place_table, word, &PlaceRow::word);
  if (row == place_table.end()) refuse_place(word);
  return row->make(wanted);
}
}  // namespace

std::vector<std::string> place_words() {
  std::vector<std::string> out;
  for (const auto& row : place_table)
    if (row.is_chosen) out.emplace_back(row.word);
  return out;
}

void check_place(const std::string& word) {
  const auto known = place_words();
  if (std::ranges::find(known, word) == known.end()) refuse_place(word);
}

void check_teams(const WorkersWanted& wanted, const EvaluatorSpec& evaluator) {
  if (wanted.team_size == 0) return;
  const auto refuse = [&](const char* why) {
    throw InputError(fmt::format("team_size = {}: {}", wanted.team_size, why));
  };
  if (wanted.lent) refuse("it cannot be combined with executor; remove one of the two");
  if (wanted.listening) refuse("workers that join over a network cannot be in a team; remove one of the two");
  if (!make_own(wanted)->uses_ranks())
    refuse("teams consist of the ranks of an MPI launch; start with culmen launch, mpiexec or srun");
  if (evaluator.kind() == EvaluatorKind::command)
    refuse("an external program cannot be evaluated by a team; give a function in Python, C, C++ or Fortran");
  if (evaluator.kind() == EvaluatorKind::items) refuse("an Executor has no teams");
  if (batch_of(evaluator) > 1) refuse("a team evaluates one candidate at a time; remove batch");
  if (!evaluator.modules.empty() || !evaluator.environment.empty())
    refuse("a team evaluates in the ranks themselves; remove environment and modules, and set variables at the launch");
}

std::unique_ptr<Workplace> make_workplace(const WorkersWanted& wanted) {
  if (!wanted.listening) return make_own(wanted);
  auto own = make_own(wanted);
  const bool alone = wanted.workers == 0 && !wanted.lent && !own->uses_ranks() && !detect_launch().is_rank();
  return std::make_unique<OpenPlace>(wanted.listening, alone ? nullptr : std::move(own));
}

std::size_t workers_of(const WorkersWanted& wanted) { return make_workplace(wanted)->workers(); }
bool uses_ranks(const WorkersWanted& wanted) { return make_workplace(wanted)->uses_ranks(); }

}  // namespace culmen
