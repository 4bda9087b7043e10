#include <gtest/gtest.h>

#include <future>

#include "helpers.hpp"

namespace culmen {
namespace {
/// Interrupts as soon as `marker`'s processes are there; the evaluation has to return soon, and so has a further one.
void expect_interruptible(const EvaluatorSpec& spec, std::size_t processes) {
  const auto evaluator = make_evaluator({two_parameters(), spec});
  auto running = std::async(std::launch::async, [&] { return evaluator->evaluate(some_candidate(), 0); });
  ASSERT_TRUE(holds_within(patience_s, [&] { return processes_of(spec.run_marker).size() >= processes; }))
      << processes_of(spec.run_marker).size();
  const SteadyClock clock;
  const double start_s = clock.now_s();
  evaluator->interrupt();
  EXPECT_FALSE(running.get().ok());
  EXPECT_FALSE(evaluator->evaluate(some_candidate(), 1).ok());
  EXPECT_LT(clock.now_s() - start_s, patience_s);
  EXPECT_TRUE(holds_within(patience_s, [&] { return processes_of(spec.run_marker).empty(); }));
}

TEST(Interrupt, ends_a_python_function_and_its_grandchildren) {
  expect_interruptible(python_spec("hangs_with_grandchild"), 2);
}
TEST(Interrupt, ends_a_library_function) { expect_interruptible(library_spec("hangs", Isolation::process), 1); }
TEST(Interrupt, ends_a_command_and_its_grandchildren) {
  expect_interruptible(shell_spec("sleep 3600 & sleep 3600; echo 1"), 3);
}

TEST(Interrupt, ends_an_import_that_hangs) {
  auto spec = python_spec("");
  spec.as<PythonSpec>().target = SAMPLES_FOLDER "/hangs_at_import.py:f";
  expect_interruptible(spec, 1);
}

}  // namespace
}  // namespace culmen
