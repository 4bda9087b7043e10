#include "culmen/study/crew/workplace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "culmen/base/error.hpp"
#include "culmen/study/crew/cpus.hpp"
#include "culmen/study/crew/lent_workers.hpp"
#include "culmen/study/crew/ranks.hpp"
#include "culmen/transport/mpi/launcher.hpp"

namespace culmen {
namespace {

class LentPlace final : public Workplace {
 public:
  explicit LentPlace(std::shared_ptr<LentWorkers> lent) : lent_(std::move(lent)) {}
  std::size_t workers() const override { return lent_->workers(); }
  std::unique_ptr<Crew> hire(const CrewRequest&) override { return make_lent_crew(lent_); }

 private:
  std::shared_ptr<LentWorkers> lent_;
};

class ThreadPlace final : public Workplace {
 public:
  explicit ThreadPlace(std::size_t workers) : workers_(workers) {}
  std::size_t workers() const override { return workers_; }
  std::unique_ptr<Crew> hire(const CrewRequest& request) override { return make_thread_crew(request); }

 private:
  std::size_t workers_;
};

class ProcessPlace final : public Workplace {
 public:
  explicit ProcessPlace(std::size_t workers) : workers_(workers) {}
  std::size_t workers() const override { return workers_; }
  bool starts_processes() const override { return true; }
  std::unique_ptr<Crew> hire(const CrewRequest& request) override { return make_process_crew(request); }

 private:
  std::size_t workers_;
};

class RankPlace final : public Workplace {
 public:
  explicit RankPlace(std::size_t team_size) : team_size_(std::max<std::size_t>(1, team_size)) {}
  /// One rank of every node does not work: the master, or a relay. Other nodes are taken to have as many ranks as this.
  std::size_t workers() const override {
    const auto launch = detect_launch();
    const auto nodes = (launch.size + launch.here - 1) / launch.here;
    return std::max<std::size_t>(1, static_cast<std::size_t>(std::max(1, launch.size - nodes)) / team_size_);
  }
  std::size_t local_workers() const override { return static_cast<std::size_t>(std::max(1, detect_launch().here - 1)); }
  bool uses_ranks() const override { return true; }
  void expect() override { expect_ranks(); }
  void abandon(const std::string& message) override { abandon_ranks(message); }
  std::unique_ptr<Crew> hire(const CrewRequest& request) override { return make_rank_crew(request); }

 private:
  std::size_t team_size_;
};

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
  std::optional<std::size_t> first_visitor() const override { return own_ ? own_->workers() : 0; }
  void expect() override {
    if (own_) own_->expect();
  }
  void abandon(const std::string& message) override {
    if (own_) own_->abandon(message);
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

using MakeWorkplace = std::unique_ptr<Workplace> (*)(const WorkersWanted&);

template <class Local>
std::unique_ptr<Workplace> make_local(const WorkersWanted& wanted) {
  return std::make_unique<Local>(wanted.workers != 0 ? wanted.workers : usable_cpus());
}

std::unique_ptr<Workplace> make_ranks(const WorkersWanted& wanted) {
  return std::make_unique<RankPlace>(wanted.team_size);
}

std::unique_ptr<Workplace> make_automatic(const WorkersWanted& wanted) {
  return detect_launch().is_rank() ? make_ranks(wanted) : make_local<ThreadPlace>(wanted);
}

struct PlaceRow {
  const char* word;
  Place place;
  MakeWorkplace make;
};

/// Every place, in the order in which messages list them.
constexpr std::array place_table{
    PlaceRow{"auto", Place::automatic, make_automatic},
    PlaceRow{"threads", Place::threads, make_local<ThreadPlace>},
    PlaceRow{"processes", Place::processes, make_local<ProcessPlace>},
    PlaceRow{"mpi", Place::mpi, make_ranks},
};

}  // namespace

std::vector<std::pair<Place, const char*>> place_words() {
  std::vector<std::pair<Place, const char*>> out;
  for (const auto& row : place_table) out.emplace_back(row.place, row.word);
  return out;
}

namespace {
std::unique_ptr<Workplace> make_own(const WorkersWanted& wanted) {
  if (wanted.lent) return std::make_unique<LentPlace>(wanted.lent);
  const auto* row = std::ranges::find(place_table, wanted.place, &PlaceRow::place);
  if (row == place_table.end()) throw std::logic_error("a place is missing in the table of places");
  return row->make(wanted);
}
}  // namespace

void check_teams(const WorkersWanted& wanted, const EvaluatorSpec& evaluator) {
  if (wanted.team_size == 0) return;
  const auto refuse = [&](const char* why) {
    throw InputError(fmt::format("team_size = {}: {}", wanted.team_size, why));
  };
  if (wanted.lent) refuse("a lent executor evaluates each candidate alone; remove one of the two");
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
  const bool alone = wanted.workers == 0 && !wanted.lent && wanted.place != Place::mpi && !detect_launch().is_rank();
  return std::make_unique<OpenPlace>(wanted.listening, alone ? nullptr : make_own(wanted));
}

std::size_t workers_of(const WorkersWanted& wanted) { return make_workplace(wanted)->workers(); }
bool uses_ranks(const WorkersWanted& wanted) { return make_workplace(wanted)->uses_ranks(); }

}  // namespace culmen
