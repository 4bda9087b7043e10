// The description of an evaluator, which has one of five kinds, and the frame in which it travels to the workers.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "culmen/base/bytes.hpp"
#include "culmen/base/process.hpp"
#include "culmen/base/shared_bytes.hpp"
#include "culmen/evaluation/goals.hpp"
#include "culmen/space/space.hpp"

namespace culmen {

/// In the order of EvaluatorSpec::how.
enum class EvaluatorKind : unsigned char { function = 0, python = 1, library = 2, command = 3, items = 4 };
enum class Isolation : unsigned char { none = 0, process = 1 };
enum class ResultKind : unsigned char {
  value = 0,      ///< one number
  residuals = 1,  ///< a vector, whose sum of squares is the value
  figures = 2,    ///< named figures, including each objective; with one objective, one number is enough
};

enum class Reading : unsigned char { last_word = 0, json = 1, regex = 2 };
/// The evaluations whose folders or output are kept.
enum class Keep : unsigned char { all = 0, failures = 1, none = 2 };

/// The place of a command's figure or residuals in its output.
struct FigureSource {
  std::string name;  ///< of a figure; "value" is the value, "residuals" are the residuals
  std::string file;  ///< relative to the evaluation's folder; empty: standard output
  Reading reading = Reading::last_word;
  std::string pattern;  ///< json: keys and indices joined by dots, or a JSON pointer (RFC 6901) where it begins with /;
                        ///< regex: RE2's dialect, ^ and $ at every line, the first group or else the whole match
  bool first = false;   ///< regex: use the first of several matches; otherwise the last
  bool operator==(const FigureSource&) const = default;
};

/// A file or folder that every evaluation of a command finds in its folder.
struct InputFile {
  std::string path;  ///< absolute
  std::string name;  ///< relative to the evaluation's folder
  bool link = false;
  bool operator==(const InputFile&) const = default;
};

/// A file that is written into the evaluation's folder, with the parameters' values in its places; see PlaceholderText.
struct TextTemplate {
  std::string name;  ///< relative to the evaluation's folder
  std::string text;
  bool operator==(const TextTemplate&) const = default;
};

/// A C++ function of the program itself. It does not travel: the program hands it to its workers.
struct FunctionSpec {
  bool operator==(const FunctionSpec&) const = default;
};

/// A Python function.
struct PythonSpec {
  std::string target;       ///< "module:function" or "/abs/file.py:function"
  SharedBytes pickle{};     ///< a callable pickled by cloudpickle, instead of the target
  std::string interpreter;  ///< the study's own
  std::uint32_t batch = 0;  ///< the most candidates of one call, as vectors; 0: one candidate, as numbers
  bool operator==(const PythonSpec&) const = default;

  /// As StopRules::each_setting.
  template <class Visit>
  static void each_setting(Visit visit) {
    visit("batch", &PythonSpec::batch);
  }
};

/// A function of the C ABI in a shared library.
struct LibrarySpec {
  std::string target;  ///< "/abs/lib.so:symbol"
  bool operator==(const LibrarySpec&) const = default;
};

/// A program that is started for each evaluation.
struct CommandSpec {
  std::vector<std::string> command;  ///< program and arguments
  Keep keep = Keep::all;             ///< which folders of evaluations are kept
  bool json_stdin = false;           ///< the parameters are a JSON object on its standard input
  std::vector<TextTemplate> templates{};
  std::vector<InputFile> inputs{};
  /// None: see read_command_output. The value is the figure "value" (residuals: "residuals"), otherwise the first.
  std::vector<FigureSource> figures{};
  bool operator==(const CommandSpec&) const = default;

  /// As StopRules::each_setting.
  template <class Visit>
  static void each_setting(Visit visit) {
    visit("keep", &CommandSpec::keep);
  }
};

/// A Python process that receives with each candidate the function to call, and its arguments.
struct ItemsSpec {
  SharedBytes pickle;       ///< a callable that is called first
  std::string interpreter;  ///< the study's own
  bool operator==(const ItemsSpec&) const = default;
};

/// An evaluator: what all kinds have in common, and what one kind adds. The study makes it, and the worker decodes it.
struct EvaluatorSpec {
  std::variant<FunctionSpec, PythonSpec, LibrarySpec, CommandSpec, ItemsSpec> how;  ///< the part of its kind
  Isolation isolation = Isolation::process;
  ResultKind result = ResultKind::value;
  double time_limit_s = 0;           ///< 0: none. Needs isolation = process, or a command
  std::string base_folder;           ///< of the study: Python finds modules here, a command its program
  std::string working_folder;        ///< an evaluation gets its own folder here, named by its number
  std::string run_marker;            ///< CULMEN_RUN in the environment of every child (see guard.hpp)
  EnvironmentChanges environment;    ///< of every child; a command's values may have places
  std::vector<std::string> modules;  ///< environment modules, loaded once in a worker's process
  /// Which output of a child is kept. Functions: with `failures` it comes with the failure's message, with `all` it is
  /// also kept in the evaluation's folder. Commands: see command_evaluator.cpp.
  Keep output = Keep::failures;

  /// As StopRules::each_setting.
  template <class Visit>
  static void each_setting(Visit visit) {
    visit("isolation", &EvaluatorSpec::isolation);
    visit("result", &EvaluatorSpec::result);
    visit("time_limit_s", &EvaluatorSpec::time_limit_s);
    visit("environment", &EvaluatorSpec::environment);
    visit("modules", &EvaluatorSpec::modules);
    visit("output", &EvaluatorSpec::output);
  }

  EvaluatorKind kind() const { return static_cast<EvaluatorKind>(how.index()); }
  /// The part of its kind, which must be this one.
  template <class Part>
  const Part& as() const {
    return std::get<Part>(how);
  }
  template <class Part>
  Part& as() {
    return std::get<Part>(how);
  }
  bool operator==(const EvaluatorSpec&) const = default;
};

/// Whether evaluations run in child processes of the worker.
bool starts_children(const EvaluatorSpec& spec);
/// The most candidates that one call takes; at least 1.
std::size_t batch_of(const EvaluatorSpec& spec);

/// The body of the set-up frame.
struct SetUp {
  Space space;
  EvaluatorSpec evaluator;
  Goals goals = {};
};

/// Layout:
///
///     u8 version (4) | space (Space::encode) | goals (encode) | u8 kind | u8 isolation | u8 result | text target
///     | blob pickle | text interpreter | u64 n, n text command | f64 time_limit_s | text base_folder
///     | text working_folder | text run_marker | u64 n, n (text name, text value; a zero byte: remove) environment
///     | u64 n, n text modules | u32 batch | u8 output | u8 keep | u8 json_stdin | u64 n, n (text, text) templates
///     | u64 n, n (text path, text name, u8 link) inputs
///     | u64 n, n (text name, text file, u8 reading, text pattern, u8 first) figures
///
/// A field that the kind does not have is empty, zero or its default. `culmen.slot` (Python) reads the same bytes.
Bytes encode(const SetUp& set_up);
/// Throws Error on bytes that are not a set-up of a known version.
SetUp decode_set_up(BytesView in);

}  // namespace culmen
