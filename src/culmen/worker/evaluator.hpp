// How one candidate is judged. See evaluator.h for the C ABI.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <span>
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

enum class Reading : unsigned char { last_word = 0, json = 1, regex = 2 };
/// What is kept of a successful or failed evaluation.
enum class Keep : unsigned char { all = 0, failures = 1, none = 2 };

/// Where a figure of a command, or its residuals, stand in what it wrote.
struct FigureSource {
  std::string name;  ///< of a figure; "value" is the value, "residuals" are the residuals
  std::string file;  ///< relative to the evaluation's folder; empty: standard output
  Reading reading = Reading::last_word;
  std::string pattern;  ///< json: keys and indices joined by dots, or a JSON pointer (RFC 6901) where it begins with /;
                        ///< regex: RE2's dialect, ^ and $ at every line, the first group or else the whole match
  bool first = false;   ///< regex: of several matches the first; else the last
  bool operator==(const FigureSource&) const = default;
};

/// A file or folder that every evaluation of a command finds in its folder.
struct InputFile {
  std::string path;  ///< absolute
  std::string name;  ///< relative to the evaluation's folder
  bool link = false;
  bool operator==(const InputFile&) const = default;
};

/// A file that is written into the evaluation's folder with values in its places; see PlaceholderText.
struct TextTemplate {
  std::string name;  ///< relative to the evaluation's folder
  std::string text;
  bool operator==(const TextTemplate&) const = default;
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
  std::map<std::string, std::string> environment;  ///< of every child; command: values may have places
  std::vector<std::string> modules;                ///< environment modules, loaded once in a worker's process
  std::uint32_t batch = 0;       ///< python: so many candidates at most a call, as vectors; 0: one, as numbers
  Keep output = Keep::failures;  ///< python, library: failures: what is printed comes with a failure's message; all: it
                                 ///< is also kept in the evaluation's folder. command: see command_evaluator.cpp
  Keep keep = Keep::all;         ///< command: evaluations' folders
  bool json_stdin = false;       ///< command: the parameters are an object on its standard input
  std::vector<TextTemplate> templates;  ///< command
  std::vector<InputFile> inputs;        ///< command
  std::vector<FigureSource> figures;    ///< command; none: see read_command_output. Without one called "value" (of
                                        ///< residuals: "residuals") the first is the value
};

/// What workers evaluate in a study: the set-up frame's body.
struct SetUp {
  Space space;
  EvaluatorSpec evaluator;
  Goals goals = {};
};

/// Layout: u8 version (2) | space (Space::encode) | goals (encode) | u8 kind | u8 isolation | u8 result | text target |
/// blob pickle | text interpreter | u64 n, n text command | f64 time_limit_s | text base_folder | text working_folder |
/// text run_marker | u64 n, n (text, text) environment | u64 n, n text modules | u32 batch | u8 output | u8 keep | u8
/// json_stdin | u64 n, n (text, text) templates | u64 n, n (text path, text name, u8 link) inputs | u64 n, n (text
/// name, text file, u8 reading, text pattern, u8 first) figures. `culmen.slot` (Python) reads the same bytes.
Bytes encode(const SetUp& set_up);
/// Throws Error on bytes that are not a set-up of a known version.
SetUp decode_set_up(BytesView in);

/// One try at a candidate.
struct Request {
  Candidate candidate;
  Attempt attempt = 0;
};

/// Evaluates candidates, one at a time or some together, on one thread.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// Starts what the evaluations need (a child that imports the function), if that has not been done. Throws Error with
  /// one sentence: cannot be imported, no such symbol.
  virtual void prepare() {}
  /// The candidate's inactive parameters are NaN. Never throws: every failure is an Outcome. duration_s is filled in.
  virtual Outcome evaluate(const Candidate& candidate, Attempt attempt) = 0;
  /// How many candidates evaluate_batch() takes together; at least 1.
  virtual std::size_t batch() const { return 1; }
  /// Several, at most batch(): their outcomes, in their order. Each takes an equal share of the duration.
  virtual std::vector<Outcome> evaluate_batch(std::span<const Request> requests);
  /// Makes a running evaluate() or prepare() return soon and later ones return at once, where the evaluator can (a
  /// child is killed). Any thread.
  virtual void interrupt() noexcept {}
};

/// Adds what an evaluator of `figures` gave as one number to the extras, under its objective's name.
void name_the_value(Outcome& outcome, const Goals& goals);

/// C++ callable: space order, own units (NaN: inactive) -> value. Exceptions become Status::failed.
using Function = std::function<Outcome(const std::vector<double>&)>;
std::unique_ptr<Evaluator> make_function_evaluator(Function function);

/// Throws InputError with one sentence where a command's places, formats or regular expressions are wrong; starts and
/// opens nothing.
void check_command(const SetUp& set_up);

/// Only the program is looked for in the study's folder: further words may be anything. Where one names a file there
/// that is not among the inputs: what to write instead, as a sentence about the command without its end; else empty.
std::string file_left_behind(const EvaluatorSpec& spec);

/// Builds what the spec names (not EvaluatorKind::function). Throws Error with one sentence: no such program, a limit
/// that cannot be kept, two parameters that need the same variable. What only a child can find out (an import that
/// fails) comes from prepare().
std::unique_ptr<Evaluator> make_evaluator(const SetUp& set_up);

}  // namespace culmen
