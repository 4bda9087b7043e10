#include "culmen/study/crew/workplace.hpp"

#include <algorithm>

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
  std::size_t workers() const override { return static_cast<std::size_t>(std::max(1, detect_launch().size - 1)); }
  void expect() override { expect_ranks(); }
  void abandon(const std::string& message) override { abandon_ranks(message); }
  std::unique_ptr<Crew> hire(const CrewRequest& request) override { return make_rank_crew(request); }
};

}  // namespace

std::unique_ptr<Workplace> make_workplace(const WorkersWanted& wanted) {
  if (wanted.lent) return std::make_unique<LentPlace>(wanted.lent);
  auto place = wanted.place;
  if (place == Place::automatic) place = detect_launch().is_rank() ? Place::mpi : Place::threads;
  if (place == Place::mpi) return std::make_unique<RankPlace>();
  const auto workers = wanted.workers != 0 ? wanted.workers : usable_cpus();
  if (place == Place::processes) return std::make_unique<ProcessPlace>(workers);
  return std::make_unique<ThreadPlace>(workers);
}

std::size_t workers_of(const WorkersWanted& wanted) { return make_workplace(wanted)->workers(); }

}  // namespace culmen
