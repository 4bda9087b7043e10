#include "culmen/worker/slot/slot_start.hpp"

#include <variant>

#include "culmen/base/error.hpp"

namespace culmen {
namespace {
/// For a Python slot; nullptr for a library, whose slot is native.
const std::string* interpreter_of(const EvaluatorSpec& spec) {
  if (const auto* python = std::get_if<PythonSpec>(&spec.how)) return &python->interpreter;
  if (const auto* items = std::get_if<ItemsSpec>(&spec.how)) return &items->interpreter;
  return nullptr;
}
}  // namespace

SpawnRequest slot_request(const EvaluatorSpec& spec) {
  SpawnRequest request;
  request.environment = {{"CULMEN_RUN", spec.run_marker}};
  const auto* interpreter = interpreter_of(spec);
  if (interpreter == nullptr) {
    request.command = {find_executable(), "__slot"};
    return request;
  }
  if (interpreter->empty()) throw InputError("a Python evaluator needs the path of its interpreter");
  request.command = {*interpreter, "-u", "-X", "faulthandler", "-m", "culmen.slot"};
  request.environment.emplace("PYTHONSAFEPATH", "1");  // modules in the current folder must not shadow Python's own
  return request;
}

std::string describe_start(const EvaluatorSpec& spec) {
  const auto place_of = [](const std::string& target) { return target.substr(0, target.rfind(':')); };
  if (spec.kind() == EvaluatorKind::items) return "its interpreter and initializer";
  if (spec.kind() == EvaluatorKind::library) return "loading the library " + place_of(spec.as<LibrarySpec>().target);
  const auto& python = spec.as<PythonSpec>();
  return python.pickle.empty() ? "importing " + place_of(python.target) : "unpickling the function";
}

}  // namespace culmen
