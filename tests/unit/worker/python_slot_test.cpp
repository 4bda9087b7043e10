#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "helpers.hpp"

namespace culmen {
namespace {
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

EvaluatorSpec residuals_spec(const std::string& function) {
  auto spec = python_spec(function);
  spec.result = ResultKind::residuals;
  return spec;
}

void expect_failure(const EvaluatorSpec& spec, Status status, const std::string& text) {
  const auto outcome = evaluate(spec);
  EXPECT_EQ(outcome.status, status) << to_string(outcome.status);
  EXPECT_THAT(outcome.message, HasSubstr(text));
  EXPECT_TRUE(std::isnan(outcome.value));
}

TEST(PythonSlot, gives_the_value_and_measures_the_duration) {
  const auto outcome = evaluate(python_spec("sphere"));
  EXPECT_TRUE(outcome.ok()) << outcome.message;
  EXPECT_EQ(outcome.value, 6.25);
  EXPECT_GT(outcome.duration_s, 0);
  EXPECT_LT(outcome.duration_s, 5);
}

TEST(PythonSlot, hands_over_floats_and_integers_in_the_order_of_the_space) {
  const auto outcome = evaluate(python_spec("types"));
  const std::vector<std::pair<std::string, double>> expected = {{"x", 0}, {"n", 1}, {"order", 1}};
  EXPECT_EQ(outcome.extras, expected) << outcome.message;
}

TEST(PythonSlot, takes_anything_that_is_one_number) {
  EXPECT_EQ(evaluate(python_spec("fraction")).value, 0.25);
  EXPECT_EQ(evaluate(python_spec("scalar_array")).value, 5);
  EXPECT_EQ(evaluate(python_spec("one_element_array")).value, 5);
}

TEST(PythonSlot, gives_residuals_and_extra_figures) {
  EXPECT_EQ(evaluate(residuals_spec("residuals")).residuals, (std::vector<double>{0.5, 1}));
  const auto outcome = evaluate(residuals_spec("residuals_with_extras"));
  EXPECT_EQ(outcome.value, 25);
  EXPECT_EQ(outcome.extras, (std::vector<std::pair<std::string, double>>{{"chi2_a", 9}, {"chi2_b", 16}}));
}

TEST(PythonSlot, says_what_came_instead_of_a_number) {
  expect_failure(python_spec("none"), Status::wrong_shape, "the function returned None; it must return one number");
  expect_failure(python_spec("text"), Status::wrong_shape, "a str ('12'); it must return one number");
  expect_failure(
      python_spec("pair"), Status::wrong_shape,
      "a list of 2; it must return one number (for a fit, set result = \"residuals\"; for several objectives, "
      "name them in objectives)");
  expect_failure(python_spec("bad_extra"), Status::wrong_shape, "the extra value 'why' is a str ('because')");
}

TEST(PythonSlot, says_what_came_instead_of_residuals) {
  expect_failure(residuals_spec("sphere"), Status::wrong_shape, "a float; it must return a vector of residuals");
  expect_failure(residuals_spec("empty"), Status::wrong_shape, "a list of 0; it must return a vector of residuals");
  expect_failure(residuals_spec("words"), Status::wrong_shape, "a list of 2 whose entries are not all numbers");
  expect_failure(residuals_spec("nested"), Status::wrong_shape, "a list of 2 whose entries are not all numbers");
}

TEST(PythonSlot, names_the_figure_that_is_not_finite) {
  expect_failure(python_spec("nan"), Status::not_finite, "the value is nan");
  expect_failure(residuals_spec("residual_inf"), Status::not_finite, "residual 1 of 2 is inf");
}

TEST(PythonSlot, reports_an_exception_with_the_lines_of_the_users_code_only) {
  const auto outcome = evaluate(python_spec("raises"));
  EXPECT_EQ(outcome.status, Status::failed);
  EXPECT_THAT(outcome.message, AllOf(HasSubstr("ValueError: negative mass\n"), HasSubstr("in deeper"),
                                     HasSubstr("functions.py"), Not(HasSubstr("__main__"))));
  expect_failure(python_spec("exits"), Status::failed, "SystemExit: gone");
}

TEST(PythonSlot, reports_a_crash_with_the_signal_and_the_last_words) {
  expect_failure(python_spec("segfaults"), Status::crashed, "was killed by SIGSEGV before it returned a result");
  expect_failure(python_spec("segfaults"), Status::crashed, "in segfaults");  // where, by Python's faulthandler
  expect_failure(python_spec("exits_hard"), Status::crashed,
                 "ended with exit code 4 before it returned a result\nlast words");
}

TEST(PythonSlot, keeps_only_the_tail_of_what_a_crashed_function_printed) {
  const auto outcome = evaluate(python_spec("floods_then_crashes"));
  EXPECT_THAT(outcome.message, testing::EndsWith("the last words"));
  EXPECT_LT(outcome.message.size(), 2200U);
}

TEST(PythonSlot, notices_a_death_though_a_forked_child_holds_the_channel) {
  const auto spec = python_spec("forks_and_dies");
  expect_failure(spec, Status::crashed, "ended with exit code 5");
  EXPECT_TRUE(holds_within(patience_s, [&] { return processes_of(spec.run_marker).empty(); }));
}

TEST(PythonSlot, answers_once_for_a_function_that_forks) {
  expect_first_parameters(python_spec("forks_and_returns"));
  auto spec = python_spec("");
  spec.as<PythonSpec>().target = SAMPLES_FOLDER "/forks_at_import.py:f";
  expect_first_parameters(spec);
}

TEST(PythonSlot, lets_a_forked_child_leave_as_python_would) {
  const auto code = [](const std::string& function, double n) {
    auto spec = python_spec(function);
    spec.time_limit_s = 20;
    const auto outcome = make_evaluator({two_parameters(), spec})->evaluate({7, {0, n}}, 0);
    return outcome.ok() ? std::to_string(static_cast<int>(outcome.value)) : outcome.message;
  };
  EXPECT_EQ(code("code_of_forked_child", 0), "0");
  EXPECT_EQ(code("code_of_forked_child", 4), "4");
  EXPECT_EQ(code("code_of_forked_child_with_last_words", 0), "1");
  EXPECT_EQ(code("code_of_forked_child_that_raises", 0), "1");
}

TEST(PythonSlot, lets_signals_end_what_a_function_forks) { EXPECT_EQ(evaluate(python_spec("ends_forks")).value, 100); }

TEST(PythonSlot, is_killed_when_it_answers_for_another_evaluation_or_attempt) {
  const auto spec = python_spec("fakes_answer");
  const auto evaluator = make_evaluator({two_parameters(), spec});
  for (const auto& [n, named] : {std::pair{0.0, "(8, attempt 0)"}, {1.0, "(7, attempt 1)"}}) {
    const auto outcome = evaluator->evaluate({7, {0, n}}, 0);
    EXPECT_EQ(outcome.status, Status::crashed) << to_string(outcome.status);
    EXPECT_THAT(outcome.message, HasSubstr(std::string("answered for another evaluation ") + named));
    EXPECT_TRUE(std::isnan(outcome.value));
    EXPECT_THAT(processes_of(spec.run_marker), IsEmpty());
  }
  EXPECT_EQ(evaluator->evaluate({7, {0, 2}}, 0).value, 13) << "the fake answer is none, so nothing was tested";
}

TEST(PythonSlot, keeps_prints_and_interrupts_away_from_the_channel) {
  EXPECT_EQ(evaluate(python_spec("chatter")).value, 1);
  EXPECT_EQ(evaluate(python_spec("interrupts_itself")).value, 2);
}

TEST(PythonSlot, is_one_process_for_all_evaluations) {
  const auto evaluator = make_evaluator({two_parameters(), python_spec("process_id")});
  const auto first = evaluator->evaluate(some_candidate(), 0);
  EXPECT_EQ(evaluator->evaluate(some_candidate(), 0).value, first.value);
}

TEST(PythonSlot, is_started_again_when_it_has_died_between_evaluations) {
  const auto evaluator = make_evaluator({two_parameters(), python_spec("dies_soon")});
  const auto first = evaluator->evaluate(some_candidate(), 0);
  const auto pid = static_cast<pid_t>(first.value);
  ASSERT_TRUE(holds_within(patience_s, [&] { return !alive(identify(pid)); }));
  const auto second = evaluator->evaluate(some_candidate(), 0);
  EXPECT_TRUE(second.ok()) << second.message;
  EXPECT_NE(second.value, first.value);
}

TEST(PythonSlot, is_started_again_after_a_crash) {
  auto spec = python_spec("");
  spec.as<PythonSpec>().target = SAMPLES_FOLDER "/crashes_when_negative.py:root";
  const auto evaluator = make_evaluator({two_parameters(), spec});
  EXPECT_EQ(evaluator->evaluate({0, {-1, 0}}, 0).status, Status::crashed);
  EXPECT_EQ(evaluator->evaluate({1, {4, 0}}, 0).value, 2);
}

TEST(PythonSlot, leaves_grandchildren_alone_while_all_is_well) {
  const auto evaluator = make_evaluator({two_parameters(), python_spec("leaves_grandchild")});
  const auto grandchild = identify(static_cast<pid_t>(evaluator->evaluate(some_candidate(), 0).value));
  EXPECT_TRUE(evaluator->evaluate(some_candidate(), 1).ok());
  EXPECT_TRUE(alive(grandchild));
}

TEST(PythonSlot, is_killed_with_its_grandchildren_at_the_time_limit) {
  auto spec = python_spec("hangs_with_grandchild");
  spec.time_limit_s = 0.3;
  const auto evaluator = make_evaluator({two_parameters(), spec});
  const auto outcome = evaluator->evaluate(some_candidate(), 0);
  EXPECT_EQ(outcome.status, Status::timed_out);
  EXPECT_THAT(outcome.message, AllOf(HasSubstr("the time limit of 0.3 s passed"), HasSubstr("hanging now")));
  EXPECT_NEAR(outcome.duration_s, 0.3, 0.2);
  EXPECT_TRUE(holds_within(patience_s, [&] { return processes_of(spec.run_marker).empty(); }));
}

TEST(PythonSlot, dies_with_its_evaluator) {
  const auto spec = python_spec("process_id");
  EXPECT_TRUE(evaluate(spec).ok());
  EXPECT_THAT(processes_of(spec.run_marker), IsEmpty());
}

TEST(PythonSlot, says_in_one_sentence_why_it_cannot_have_the_function) {
  const std::string file = SAMPLES_FOLDER "/functions.py";
  const auto why = [](const std::string& target, const std::string& base_folder = {}) {
    auto spec = python_spec("");
    spec.as<PythonSpec>().target = target;
    spec.base_folder = base_folder;
    return error_of_prepare(spec);
  };
  EXPECT_EQ(why("no_such_module:f", "/some/folder"),
            "cannot import module 'no_such_module' (from /some/folder): No module named 'no_such_module'");
  EXPECT_EQ(why("/no/such.py:f"), "/no/such.py is not a file");
  EXPECT_EQ(why("functions"), "'functions' must be \"module:function\" or \"/folder/file.py:function\"");
  EXPECT_EQ(why(file + ":NOT_A_FUNCTION"), "'NOT_A_FUNCTION' in " + file + " must be a function, but is of type float");
  EXPECT_THAT(why(file + ":chi2"),
              AllOf(HasSubstr(file + " has no function 'chi2' (it has: Array, bad_extra, "), HasSubstr(", words)")));
  EXPECT_THAT(
      why(SAMPLES_FOLDER "/broken.py:f"),
      AllOf(HasSubstr("cannot import " SAMPLES_FOLDER "/broken.py: No module named 'a_module_that_nobody_has'; "),
            HasSubstr(" -m pip install a_module_that_nobody_has`")));
}

TEST(PythonSlot, imports_modules_from_the_base_folder) {
  auto spec = python_spec("");
  spec.as<PythonSpec>().target = "functions:sphere";
  spec.base_folder = SAMPLES_FOLDER;
  EXPECT_EQ(evaluate(spec).value, 6.25);
}

TEST(PythonSlot, takes_a_pickled_function) {
  auto spec = python_spec("");
  const std::string pickled = "cbuiltins\nlen\n.";  // protocol 0; len of the dict of parameters
  const auto* first = reinterpret_cast<const std::byte*>(pickled.data());
  spec.as<PythonSpec>().pickle = Bytes(first, first + pickled.size());
  EXPECT_EQ(evaluate(spec).value, 2);
  spec.as<PythonSpec>().pickle = Bytes(first, first + pickled.size() - 1);
  EXPECT_THAT(error_of_prepare(spec), HasSubstr("cannot unpickle the function: "));
}

TEST(PythonSlot, names_an_interpreter_that_is_not_there_or_has_no_culmen) {
  auto spec = python_spec("sphere");
  spec.as<PythonSpec>().interpreter = "/no/python";
  EXPECT_EQ(error_of_prepare(spec), "cannot start '/no/python': No such file or directory");
  spec.as<PythonSpec>().interpreter = "/bin/false";
  EXPECT_EQ(error_of_prepare(spec), "the evaluator's process (/bin/false) ended with exit code 1 before it was ready");
}

}  // namespace
}  // namespace culmen
