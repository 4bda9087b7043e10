#include "culmen/study/crew/places.hpp"

#include <algorithm>

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
  std::size_t local_workers() const override { return 0; }
  bool uses_ranks() const override { return true; }
  void expect() override { expect_ranks(); }
  void abandon(const Refusal& why) override { abandon_ranks(why); }
  std::unique_ptr<Crew> hire(const CrewRequest& request) override { return make_rank_crew(request); }

 private:
  std::size_t team_size_;
};

std::size_t local_workers_of(const WorkersWanted& wanted) {
  return wanted.workers != 0 ? wanted.workers : usable_cpus();
}
}  // namespace

std::unique_ptr<Workplace> make_automatic_place(const WorkersWanted& wanted) {
  return detect_launch().is_rank() ? make_rank_place(wanted) : make_thread_place(wanted);
}

std::unique_ptr<Workplace> make_thread_place(const WorkersWanted& wanted) {
  return std::make_unique<ThreadPlace>(local_workers_of(wanted));
}

std::unique_ptr<Workplace> make_process_place(const WorkersWanted& wanted) {
  return std::make_unique<ProcessPlace>(local_workers_of(wanted));
}

std::unique_ptr<Workplace> make_rank_place(const WorkersWanted& wanted) {
  return std::make_unique<RankPlace>(wanted.team_size);
}

std::unique_ptr<Workplace> make_lent_place(const WorkersWanted& wanted) {
  if (!wanted.lent) throw InputError("place = \"lent\": no executor is lent to this run");
  return std::make_unique<LentPlace>(wanted.lent);
}

}  // namespace culmen
