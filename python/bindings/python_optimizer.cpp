#include "python_optimizer.hpp"

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "culmen/base/bytes.hpp"
#include "culmen/base/error.hpp"
#include "options.hpp"

namespace nb = nanobind;

namespace culmen::bindings {
namespace {

/// Needs the interpreter's lock.
std::string sentence_of(const nb::python_error& e, const std::string& who) {
  auto text = nb::cast<std::string>(nb::str(e.value()));
  text.erase(0, text.find_first_not_of(" \n"));
  text.resize(std::min(text.size(), text.find('\n')));
  if (e.matches(nb::module_::import_("culmen._core").attr("InputError"))) return text;
  const auto type = nb::cast<std::string>(e.type().attr("__name__"));
  return fmt::format("{}: {}{}{}", who, type, text.empty() ? "" : ": ", text);
}

/// May be held by threads without the interpreter's lock.
using Adapter = std::shared_ptr<nb::object>;

Adapter shared(nb::object object) {
  return {new nb::object(std::move(object)), [](nb::object* held) {
            if (Py_IsInitialized() == 0) return;  // the interpreter's end freed what it owned
            const nb::gil_scoped_acquire locked;
            delete held;
          }};
}

struct AskOne {};
/// None: it failed or will never be evaluated; empty: it is infeasible.
struct TellOne {
  EvaluationId id = 0;
  std::optional<std::vector<double>> values;
};
struct Hear {
  std::vector<double> x;
  std::vector<double> values;
};
using Call = std::variant<AskOne, TellOne, Hear>;

std::optional<std::vector<double>> values_of(const Outcome& outcome) {
  if (!outcome.ok()) return {};
  if (!outcome.feasible()) return std::vector<double>{};
  return outcome.values.empty() ? std::vector{outcome.value} : outcome.values;
}

/// Makes the calls in order. Result: u64 asks, u8 whether it ends, u64 n, n vectors.
Bytes made(const nb::object& adapter, const std::vector<Call>& calls) {
  std::uint64_t asks = 0;
  std::vector<std::vector<double>> vectors;
  bool ends = false;
  for (const auto& call : calls) {
    if (const auto* told = std::get_if<TellOne>(&call)) adapter.attr("tell")(told->id, told->values);
    if (const auto* heard = std::get_if<Hear>(&call)) adapter.attr("hear")(heard->x, heard->values);
    if (!std::holds_alternative<AskOne>(call)) continue;
    ++asks;
    if (ends) continue;
    auto some = nb::cast<std::vector<std::vector<double>>>(adapter.attr("ask")());
    ends = some.empty();
    for (auto& x : some) vectors.push_back(std::move(x));
  }
  Bytes out;
  ByteWriter writer(out);
  writer.u64(asks);
  writer.u8(ends);
  writer.u64(vectors.size());
  for (const auto& x : vectors) writer.doubles(x);
  return out;
}

/// The order of the library's asks and tells depends only on the calls of this optimizer. With generations the library
/// is asked as soon as fewer than `window` of its candidates are open (0: none). Its knowledge at each ask is then
/// always the same.
class PythonOptimizer final : public Optimizer {
 public:
  PythonOptimizer(std::string name, nb::object adapter, Mode mode)
      : name_(std::move(name)),
        library_(nb::cast<std::string>(adapter.attr("library"))),
        window_(nb::cast<std::size_t>(adapter.attr("window"))),
        mode_(mode),
        adapter_(shared(std::move(adapter))) {}
  Mode mode() const override { return mode_; }
  std::string name() const override { return name_; }
  std::string library() const override { return library_; }
  bool finished() const override { return ends_ && stock_.empty(); }
  void hear(const std::vector<double>& x, const Outcome& outcome) override {
    if (auto values = values_of(outcome); values && !values->empty()) calls_.emplace_back(Hear{x, std::move(*values)});
  }

 private:
  void do_ask(std::size_t n, std::vector<Candidate>& out) override {
    refill();  // at first; what it heard before comes before that
    for (; n > 0 && !stock_.empty(); --n) {
      out.push_back({0, std::move(stock_.front())});
      stock_.pop_front();
      ++given_;
    }
    hungry_ = n > 0;
    if (!generational())
      while (asks_ < n && !ends_) ask_one();
  }
  void do_tell(EvaluationId id, const Outcome& outcome) override { closed(id, values_of(outcome)); }
  void do_cancel(EvaluationId id) override { closed(id, {}); }

  void closed(EvaluationId id, std::optional<std::vector<double>> values) {
    --given_;
    calls_.emplace_back(TellOne{id, std::move(values)});
    refill();
  }
  void refill() {
    if (!generational() || ends_) return;
    if (window_ == 0 && given_ + stock_.size() + asks_ == 0) ask_one();
    while (given_ + stock_.size() + asks_ < window_) ask_one();
  }
  void ask_one() {
    calls_.emplace_back(AskOne{});
    ++asks_;
    waiting_ = true;
  }

  /// Waits until someone needs a candidate: at the end of a study nobody would use the last ones.
  std::function<Bytes()> do_job() override {
    if (!waiting_ || !hungry_) return {};
    waiting_ = false;
    return [adapter = adapter_, calls = std::exchange(calls_, {}), who = fmt::format("{} ({})", name_, library_)] {
      const nb::gil_scoped_acquire locked;
      try {
        return made(*adapter, calls);
      } catch (const nb::python_error& e) {
        throw Error(sentence_of(e, who));
      } catch (const nb::cast_error&) {
        throw Error(fmt::format("{}: it must return numbers", who));
      }
    };
  }
  void do_adopt(const Bytes& result) override {
    ByteReader reader(result);
    asks_ -= reader.u64();
    ends_ |= reader.u8() != 0;
    for (auto n = reader.u64(); n > 0; --n) stock_.push_back(reader.doubles());
    refill();
  }

  std::string name_, library_;
  std::size_t window_;
  Mode mode_;
  Adapter adapter_;
  std::vector<Call> calls_;                // for the next job
  bool waiting_ = false;                   // there is an ask among them
  bool hungry_ = false, ends_ = false;     // the last ask() got fewer than it wanted; the library has no more
  std::deque<std::vector<double>> stock_;  // proposed, not given yet
  std::size_t asks_ = 0, given_ = 0;       // without an answer; open
};

}  // namespace

std::unique_ptr<Optimizer> make_python_optimizer(const std::string& name, const Space& space, std::uint64_t seed,
                                                 const OptimizerOptions& options, const Terms& terms) {
  const nb::gil_scoped_acquire locked;
  try {
    auto adapter = nb::module_::import_("culmen.adapters")
                       .attr("make")(name, space, seed, to_python(options), terms.yield.objectives, terms.evaluations,
                                     terms.mode == Mode::generational);
    return std::make_unique<PythonOptimizer>(name, std::move(adapter), terms.mode);
  } catch (const nb::python_error& e) {
    throw InputError(sentence_of(e, fmt::format("optimizer '{}'", name)));
  }
}

}  // namespace culmen::bindings
