// How one candidate is judged. See evaluator.h for the C ABI.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "culmen/evaluation/goals.hpp"
#include "culmen/evaluation/outcome.hpp"
#include "culmen/space/candidate.hpp"
#include "culmen/space/space.hpp"

namespace culmen {

/// items: a Python child that is told with each candidate what to call: the payload holds function and arguments.
enum class EvaluatorKind : unsigned char { function = 0, python = 1, library = 2, command = 3, items = 4 };
enum class Isolation : unsigned char { none = 0, process = 1 };
enum class ResultKind : unsigned char {
  value = 0,      ///< one number
  residuals = 1,  ///< a vector, whose sum of squares is the value
  figures = 2,    ///< named figures, among them each objective; where there is one objective, one number will do
};

/// What a worker needs to evaluate; made by study, decoded by the worker, opaque in between.
struct EvaluatorSpec {
  EvaluatorKind kind = EvaluatorKind::function;
  Isolation isolation = Isolation::process;
  ResultKind result = ResultKind::value;
  std::string target;       ///< python: "module:function" or "/abs/file.py:function"; library: "/abs/lib.so:symbol"
  Bytes pickle;             ///< python: a cloudpickled callable instead of target; items: one that is called first
  std::string interpreter;  ///< python, items: the study's own interpreter
  std::vector<std::string> command;  ///< command: program and arguments
  double time_limit_s = 0;           ///< 0: none. Needs isolation = process (or a command)
  std::string base_folder;           ///< python: put in front of sys.path; command: relative programs start here, and
                                     ///< it is CULMEN_STUDY_FOLDER in their environment
  std::string working_folder;  ///< command: an evaluation's own folder, named by its number, is made in here; kept
                               ///< unless it is left empty
  std::string run_marker;      ///< value of CULMEN_RUN in the environment of every child (see guard.hpp)
};

/// What workers evaluate in a study: the set-up frame's body.
struct SetUp {
  Space space;
  EvaluatorSpec evaluator;
  Goals goals = {};
};

/// Layout: u8 version (2) | space (Space::encode) | goals (encode) | u8 kind | u8 isolation | u8 result | text target |
/// blob pickle | text interpreter | u64 n, n text command | f64 time_limit_s | text base_folder | text working_folder |
/// text run_marker. `culmen.slot` (Python) reads the same bytes.
Bytes encode(const SetUp& set_up);
/// Throws Error on bytes that are not a set-up of a known version.
SetUp decode_set_up(BytesView in);

/// Evaluates candidates, one at a time, on one thread.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// Starts what the evaluations need (a child that imports the function), if that has not been done. Throws Error with
  /// one sentence: cannot be imported, no such symbol.
  virtual void prepare() {}
  /// The candidate's inactive parameters are NaN. Never throws: every failure is an Outcome. duration_s is filled in.
  virtual Outcome evaluate(const Candidate& candidate, Attempt attempt) = 0;
  /// Makes a running evaluate() or prepare() return soon and later ones return at once, where the evaluator can (a
  /// child is killed). Any thread.
  virtual void interrupt() noexcept {}
};

/// Adds what an evaluator of `figures` gave as one number to the extras, under its objective's name.
void name_the_value(Outcome& outcome, const Goals& goals);

/// C++ callable: space order, own units (NaN: inactive) -> value. Exceptions become Status::failed.
using Function = std::function<Outcome(const std::vector<double>&)>;
std::unique_ptr<Evaluator> make_function_evaluator(Function function);

/// Builds what the spec names (not EvaluatorKind::function). Throws Error with one sentence: no such program, a limit
/// that cannot be kept, two parameters that need the same variable. What only a child can find out (an import that
/// fails) comes from prepare().
std::unique_ptr<Evaluator> make_evaluator(const SetUp& set_up);

}  // namespace culmen
