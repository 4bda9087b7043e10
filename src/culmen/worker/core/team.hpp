// The MPI ranks that evaluate one candidate together.
#pragma once
#include <functional>
#include <memory>

namespace culmen {

struct SetUp;
class Evaluator;

struct Team {
  int communicator = 0;  ///< of MPI, as a Fortran handle (MPI_Comm_f2c). Another one after a failed evaluation
  int size = 0;          ///< 0: there is no team
};

/// Makes the evaluator of one member. The team outlives it.
using TeamEvaluatorFactory = std::function<std::unique_ptr<Evaluator>(const SetUp&, const Team&)>;

/// For a function in a shared library. Throws InputError for any other kind, which needs a process of another kind.
std::unique_ptr<Evaluator> make_team_evaluator(const SetUp& set_up, const Team& team);

}  // namespace culmen
