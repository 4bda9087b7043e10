#include "culmen/study/crew/thread_share.hpp"

#include <algorithm>
#include <cstdlib>

#include "culmen/study/crew/cpus.hpp"

namespace culmen {

const std::vector<std::string>& thread_variables() {
  static const std::vector<std::string> names = {"OMP_NUM_THREADS",  "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                                                 "BLIS_NUM_THREADS", "NUMEXPR_NUM_THREADS",  "VECLIB_MAXIMUM_THREADS"};
  return names;
}

EnvironmentChanges thread_share(std::size_t workers, const EvaluatorSpec& evaluator) {
  const auto is_set = [&](const std::string& name) {
    return std::getenv(name.c_str()) != nullptr || evaluator.environment.contains(name);
  };
  if (workers < 2 || !evaluator.modules.empty() || std::ranges::any_of(thread_variables(), is_set)) return {};
  EnvironmentChanges share;
  for (const auto& name : thread_variables())
    share[name] = std::to_string(std::max<std::size_t>(1, usable_cpus() / workers));
  return share;
}

}  // namespace culmen
