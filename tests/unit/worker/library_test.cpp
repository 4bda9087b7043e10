#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "culmen/base/error.hpp"
#include "helpers.hpp"

namespace culmen {
namespace {
using testing::HasSubstr;

/// Properties of libraries with and without a process of their own.
class Library : public testing::TestWithParam<Isolation> {
 protected:
  EvaluatorSpec spec(const std::string& function) const { return library_spec(function, GetParam()); }
  void expect_failure(const std::string& function, Status status, const std::string& text,
                      ResultKind kind = ResultKind::value) const {
    auto of_kind = spec(function);
    of_kind.result = kind;
    const auto outcome = evaluate(of_kind);
    EXPECT_EQ(outcome.status, status) << to_string(outcome.status);
    EXPECT_EQ(outcome.message, text);
  }
  std::string error_of_target(const std::string& target) const {
    auto other = spec("");
    other.as<LibrarySpec>().target = target;
    return error_of_prepare(other);
  }
};

TEST_P(Library, gives_value_extras_evaluation_and_attempt) {
  const auto outcome = evaluate(spec("sphere"), 3);
  EXPECT_EQ(outcome.value, 6.25) << outcome.message;
  EXPECT_EQ(outcome.extras, (std::vector<std::pair<std::string, double>>{{"attempt", 3}, {"x", 7}}));
}

TEST_P(Library, gives_residuals) {
  auto residuals = spec("residuals");
  residuals.result = ResultKind::residuals;
  const auto outcome = evaluate(residuals);
  EXPECT_EQ(outcome.residuals, (std::vector<double>{1.5, 2}));
  EXPECT_EQ(outcome.value, 6.25);
}

TEST_P(Library, turns_every_wrong_answer_into_an_outcome) {
  expect_failure("not_a_number", Status::not_finite, "the value is nan");
  expect_failure("says_nothing", Status::wrong_shape,
                 "the function set 0 values; it must call culmen_set_value once; declare it as int "
                 "says_nothing(const culmen_candidate* c, culmen_result* r)");
  expect_failure("residuals", Status::wrong_shape,
                 "the function set 2 residuals; it must set one value (or write result = \"residuals\")");
  expect_failure("sphere", Status::wrong_shape, "the function set a value; it must set a vector of residuals",
                 ResultKind::residuals);
  expect_failure("says_nothing", Status::wrong_shape,
                 "the function set no residuals; it must call culmen_set_residuals; declare it as int "
                 "says_nothing(const culmen_candidate* c, culmen_result* r)",
                 ResultKind::residuals);
  expect_failure("fails", Status::failed, "the mass is negative (code 7)");
  expect_failure("fails_silently", Status::failed,
                 "the function returned 9; 0 means success; declare it as int fails_silently(const culmen_candidate* "
                 "c, culmen_result* r)");
}

TEST_P(Library, says_in_one_sentence_why_it_cannot_be_had) {
  EXPECT_EQ(error_of_target("/no/lib.so"), "'/no/lib.so' must be \"library.so:symbol\"");
  EXPECT_THAT(error_of_target("/no/lib.so:f"), HasSubstr("cannot load the library '/no/lib.so': "));
  EXPECT_EQ(error_of_target(SAMPLES_LIBRARY ":chi2"), "the library '" SAMPLES_LIBRARY "' has no function 'chi2'");
  EXPECT_EQ(error_of_target(CPP_LIBRARY ":squared"),
            "the library '" CPP_LIBRARY
            "' has no function 'squared' that C can call; declare it as extern \"C\" int "
            "squared(const culmen_candidate* c, culmen_result* r)");
}

INSTANTIATE_TEST_SUITE_P(Isolation, Library, testing::Values(Isolation::none, Isolation::process),
                         [](const auto& of) { return of.param == Isolation::none ? "none" : "process"; });

void expect_crash(const std::string& function, const std::string& text) {
  const auto outcome = evaluate(library_spec(function, Isolation::process));
  EXPECT_EQ(outcome.status, Status::crashed) << to_string(outcome.status);
  EXPECT_THAT(outcome.message, HasSubstr(text));
}

TEST(NativeSlot, turns_every_death_into_an_outcome) {
  expect_crash("null_pointer", "was killed by SIGSEGV before it returned a result\nabout to look at nowhere");
  expect_crash("aborts", "was killed by SIGABRT");
  expect_crash("leaves", "ended with exit code 3 before it returned a result");
}

TEST(NativeSlot, survives_a_function_that_damages_the_channel) {
  expect_crash("damages_channel", "closed its channel before it returned a result");
}

TEST(NativeSlot, answers_once_for_a_function_that_forks) {
  expect_first_parameters(library_spec("forks", Isolation::process));
  auto spec = library_spec("", Isolation::process);
  spec.as<LibrarySpec>().target = FORKS_WHEN_LOADED ":first";
  expect_first_parameters(spec);
}

TEST(NativeSlot, lets_signals_end_what_a_function_forks) {
  EXPECT_EQ(evaluate(library_spec("ends_forks", Isolation::process)).value, 100);
}

TEST(NativeSlot, is_killed_at_the_time_limit_and_started_again) {
  auto spec = library_spec("hangs", Isolation::process);
  spec.time_limit_s = 0.1;
  const auto evaluator = make_evaluator({two_parameters(), spec});
  EXPECT_EQ(evaluator->evaluate(some_candidate(), 0).status, Status::timed_out);
  EXPECT_TRUE(processes_of(spec.run_marker).empty());
  EXPECT_TRUE(evaluator->evaluate(some_candidate(), 1).ok());
}

TEST(NativeSlot, is_one_process_for_all_evaluations_and_not_this_one) {
  const auto evaluator = make_evaluator({two_parameters(), library_spec("process_id", Isolation::process)});
  const auto first = evaluator->evaluate(some_candidate(), 0);
  EXPECT_EQ(evaluator->evaluate(some_candidate(), 0).value, first.value);
  EXPECT_NE(first.value, getpid());
  EXPECT_EQ(evaluate(library_spec("process_id", Isolation::none)).value, getpid());
}

std::string error_of_making(const EvaluatorSpec& spec) {
  try {
    make_evaluator({two_parameters(), spec});
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(MakeEvaluator, refuses_what_cannot_be_kept) {
  auto spec = library_spec("sphere", Isolation::none);
  spec.time_limit_s = 2;
  EXPECT_EQ(error_of_making(spec),
            "a time limit of 2 s cannot be kept with isolation = \"none\"; use isolation = \"process\"");
  spec.time_limit_s = -1;
  EXPECT_EQ(error_of_making(spec), "the time limit is -1 s; give seconds, or 0 for none");
  auto python = python_spec("sphere");
  python.isolation = Isolation::none;
  EXPECT_EQ(error_of_making(python),
            "isolation = \"none\" is not possible for a Python function in a worker; use isolation = \"process\"");
}

TEST(FunctionEvaluator, turns_exceptions_and_nan_into_outcomes) {
  const auto judged = [](Function function) {
    return make_function_evaluator(std::move(function))->evaluate(some_candidate(), 0);
  };
  EXPECT_EQ(judged([](const auto& x) { return Outcome::of_value(x[0]); }).value, 1.5);
  const auto thrown = judged([](const auto&) -> Outcome { throw std::runtime_error("negative mass"); });
  EXPECT_EQ(thrown.status, Status::failed);
  EXPECT_EQ(thrown.message, "negative mass");
  EXPECT_EQ(judged([](const auto&) -> Outcome { throw 3; }).status, Status::failed);
  EXPECT_EQ(judged([](const auto&) { return Outcome::of_value(1.0 / 0.0); }).status, Status::not_finite);
}

}  // namespace
}  // namespace culmen
