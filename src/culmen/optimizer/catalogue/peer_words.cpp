#include "culmen/optimizer/catalogue/peer_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "culmen/base/near_word.hpp"

namespace culmen {
namespace {
/// `theirs`: as plain_word() writes them. `ours`: the first that is known is the answer.
struct Words {
  std::vector<std::string_view> theirs;
  std::vector<std::string_view> ours;
};

const std::vector<Words> of_optimizers{
    {{"tpe", "tpesampler", "gp", "gpsampler", "gpminimize", "gaussianprocess", "bo", "bayesian", "bayesopt",
      "bayesianoptimization", "botorch", "ego", "kriging", "smac", "turbo", "hyperopt", "forestminimize"},
     {"bayes"}},
    {{"cma", "cmaessampler", "fmin2", "bipop", "bipopcmaes", "ipop", "ipopcmaes"}, {"cmaes"}},
    {{"differentialevolution", "shade", "lshade", "jade", "sade"}, {"de"}},
    {{"dualannealing", "simulatedannealing", "anneal", "sa"}, {"annealing"}},
    {{"lbfgsb", "lbfgs", "newton", "newtoncg", "tnc", "migrad", "minuit", "quasinewton"}, {"bfgs"}},
    {{"powell", "newuoa", "cobyla", "cobyqa", "uobyqa"}, {"bobyqa"}},
    {{"cg"}, {"conjugate_gradient"}},
    {{"simplex", "downhillsimplex", "fmin", "amoeba"}, {"nelder_mead"}},
    {{"leastsquares", "leastsq", "curvefit", "trf", "dogbox", "levenbergmarquardt", "levmar"}, {"lm"}},
    {{"pso", "particleswarm"}, {"swarm"}},
    {{"ga", "sga", "genetic", "geneticalgorithm", "es", "evolutionstrategy"}, {"evolution"}},
    {{"randomsampler", "randomsearch", "montecarlo", "uniform"}, {"random"}},
    {{"gridsampler", "gridsearch", "brute", "bruteforce", "bruteforcesampler"}, {"grid"}},
    {{"nsgaii", "nsgaiisampler"}, {"nsga2"}},
    {{"nsgaiii", "nsgaiiisampler"}, {"nsga3"}},
    {{"qmc", "qmcsampler", "latinhypercube", "lhs", "halton"}, {"sobol"}},
    {{"trustconstr", "sqp"}, {"slsqp"}},
    {{"hyperband", "successivehalving"}, {"racing"}},
    {{"gradientdescent", "steepestdescent", "sgd"}, {"gradient"}},
};

const std::vector<Words> of_options{
    {{"popsize", "populationsize", "npop", "nparticles", "swarmsize", "np"}, {"population", "children"}},
    {{"lambda", "offspring"}, {"children", "population"}},
    {{"mu", "elite"}, {"parents"}},
    {{"sigma0", "stepsize", "stepsize0", "initialstep", "initialsigma"}, {"sigma", "step"}},
    {{"initialsimplex"}, {"simplex"}},
    {{"restarts", "nrestarts", "multistart"}, {"descents", "searches"}},
};

struct Setting {
  std::vector<std::string_view> theirs;
  std::string_view instead;
};

const std::vector<Setting> of_studies{
    {{"seed", "randomstate", "rng", "randomseed"}, "set it in the study: seed"},
    {{"maxiter", "maxfun", "maxfev", "maxfevals", "maxevals", "maxnfev", "ntrials", "ncalls", "niter", "iterations",
      "evaluations", "budget", "maxevaluations"},
     "set it in the study: evaluations in [stop], or budget in Python"},
    {{"timeout", "maxtime", "walltime", "walltimes"}, "set it in the study: wall_time_s"},
    {{"workers", "njobs"}, "set it in the study: workers"},
    {{"ftarget", "target"}, "set it in the study: target"},
    {{"direction", "maximize", "minimize"}, "set it in the study: [objectives], or objectives in Python"},
};

bool has(const std::vector<std::string_view>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

/// The first of our words for `given` that is known; empty if there is none.
std::string translated(const std::vector<Words>& table, const std::string& given,
                       const std::vector<std::string>& known) {
  const auto is_known = [&](std::string_view ours) { return std::ranges::find(known, ours) != known.end(); };
  for (const auto& [theirs, ours] : table) {
    if (!has(theirs, plain_word(given))) continue;
    if (const auto found = std::ranges::find_if(ours, is_known); found != ours.end()) return std::string(*found);
  }
  return "";
}
}  // namespace

std::string hint_for_optimizer(const std::string& given, const std::vector<std::string>& known) {
  const auto ours = translated(of_optimizers, given, known);
  return ours.empty() ? did_you_mean(given, known) : fmt::format(" (here, this method is '{}')", ours);
}

std::string hint_for_option(const std::string& given, const std::vector<std::string>& known) {
  if (const auto ours = translated(of_options, given, known); !ours.empty())
    return fmt::format(" (here, this option is '{}')", ours);
  for (const auto& [theirs, instead] : of_studies)
    if (has(theirs, plain_word(given))) return fmt::format(" ({})", instead);
  return did_you_mean(given, known);
}

}  // namespace culmen
