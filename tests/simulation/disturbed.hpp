// Plans of disturbed clusters, by seed, and what an undisturbed one does.
#pragma once
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "culmen/base/random.hpp"
#include "simulation/simulated_study.hpp"

namespace culmen::testing {

inline constexpr std::array optimizers{"annealing", "cmaes", "de", "evolution", "modelled", "random", "sobol", "swarm"};

class Folder {
 public:
  Folder() {
    // In memory where there is such a place: the simulation asks nothing of the disk.
    const std::filesystem::path memory = "/dev/shm";
    std::string pattern = ((std::filesystem::exists(memory) ? memory : std::filesystem::temp_directory_path()) /
                           "culmen-simulation-XXXXXX")
                              .string();
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file() { return path_ + "/" + std::to_string(next_++) + ".db"; }

 private:
  std::string path_;
  int next_ = 0;
};

inline std::uint64_t seeds() {
  const char* given = std::getenv("CULMEN_TEST_SEEDS");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 300;
}

inline SimulationPlan plan_for(std::uint64_t seed, const std::string& store) {
  Random random(seed, 80);
  SimulationPlan plan;
  plan.optimizer = optimizers[seed % optimizers.size()];
  plan.store = store;
  plan.commits_early = 0.05 + 0.95 * random.uniform();
  plan.master_dies = random.below(2) == 0 ? 0 : 0.02 * random.uniform();
  plan.cluster.seed = seed;
  plan.cluster.workers = 1 + random.below(12);
  plan.cluster.mean_duration_s = std::pow(10, 3 * random.uniform() - 2);
  plan.cluster.mean_delay_s = std::pow(10, 3 * random.uniform() - 3);
  plan.mean_job_s = std::pow(10, 4 * random.uniform() - 3);
  for (auto* p : {&plan.cluster.dies, &plan.cluster.leaves, &plan.cluster.answers_twice, &plan.cluster.answers_late,
                  &plan.cluster.joins}) {
    *p = 0.2 * random.uniform() * static_cast<double>(random.below(2));
  }
  return plan;
}

inline std::map<EvaluationId, int> tells_in(const Journal& journal) {
  std::map<EvaluationId, int> tells;
  journal.replay([&](const CallRecord& call) {
    if (call.kind != CallKind::tell) return;
    for (auto id : call.ids) ++tells[id];
  });
  return tells;
}

inline std::vector<Seen> undisturbed(const std::string& optimizer, const std::string& store) {
  SimulationPlan plan;
  plan.optimizer = optimizer;
  plan.store = store;
  plan.cluster.workers = 1;
  return simulate(plan).seen;
}

// The order of asks among tells may differ; the candidates, and the tells, may not.
inline std::pair<std::vector<Seen>, std::vector<Seen>> parted(const std::vector<Seen>& seen) {
  std::vector<Seen> asks, tells;
  for (const auto& s : seen) (s.is_ask ? asks : tells).push_back(s);
  return {asks, tells};
}

}  // namespace culmen::testing
