#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "culmen/base/error.hpp"
#include "culmen/worker/command/command_evaluator.hpp"
#include "culmen/worker/command/command_output.hpp"
#include "culmen/worker/command/command_protocol.hpp"
#include "helpers.hpp"

namespace culmen {
namespace {
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;
using Extras = std::vector<std::pair<std::string, double>>;

bool exists(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0;
}

TEST(CommandOutput, value_is_the_last_word) {
  EXPECT_EQ(read_command_output("3.5\n", ResultKind::value).value, 3.5);
  EXPECT_EQ(read_command_output("iterating ...\nchi2 24.9 \r\n\n", ResultKind::value).value, 24.9);
  EXPECT_EQ(read_command_output("chi2 = +1e-3", ResultKind::value).value, 1e-3);
  EXPECT_EQ(read_command_output("chi2=12", ResultKind::value).value, 12);
}

TEST(CommandOutput, lines_of_name_and_number_before_it_are_extra_figures) {
  const auto outcome = read_command_output("width = 0.15\n  dof=42\nnot one = 3\ntext = abc\n17\n", ResultKind::value);
  EXPECT_EQ(outcome.value, 17);
  EXPECT_EQ(outcome.extras, (Extras{{"width", 0.15}, {"dof", 42}}));
}

TEST(CommandOutput, residuals_are_all_words_that_are_not_extra_figures) {
  const auto outcome = read_command_output("1 2\nscale = 7\n\n3\n", ResultKind::residuals);
  EXPECT_EQ(outcome.residuals, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(outcome.value, 14);
  EXPECT_EQ(outcome.extras, (Extras{{"scale", 7}}));
}

TEST(CommandOutput, anything_else_is_a_wrong_shape_that_shows_the_word) {
  const auto wrong = [](const char* text, ResultKind kind = ResultKind::value) {
    const auto outcome = read_command_output(text, kind);
    EXPECT_EQ(outcome.status, Status::wrong_shape) << text;
    return outcome.message;
  };
  EXPECT_THAT(wrong(" \n"), HasSubstr("printed nothing"));
  EXPECT_THAT(wrong("24.9 done"), HasSubstr("'done'"));
  EXPECT_THAT(wrong("24.9."), HasSubstr("'24.9.'"));
  EXPECT_THAT(wrong("1 two 3", ResultKind::residuals), HasSubstr("'two'"));
  EXPECT_THAT(wrong("a = 1", ResultKind::residuals), HasSubstr("no residual"));
}

TEST(CommandEnvironment, gives_each_parameter_prefixed_and_plain) {
  const Space space{real("x", 0, 1), integer("n", 0, 9), real("m_pi+", 0, 1), real("PATH", 0, 1)};
  EnvironmentChanges environment;
  CommandEnvironment(space).set({0, {0.1, 3, 1e-300, 1}}, environment);
  const EnvironmentChanges expected = {{"CULMEN_PARAM_X", "0.1"},        {"x", "0.1"},
                                       {"CULMEN_PARAM_N", "3"},          {"n", "3"},
                                       {"CULMEN_PARAM_M_PI_", "1e-300"}, {"CULMEN_PARAM_PATH", "1"}};
  EXPECT_EQ(environment, expected);
}

TEST(CommandEnvironment, refuses_two_parameters_of_one_variable) {
  try {
    CommandEnvironment(Space{real("m-1", 0, 1), real("M_1", 0, 1)});
    FAIL() << "nothing was thrown";
  } catch (const InputError& error) {
    EXPECT_STREQ(
        error.what(),
        "the parameters 'm-1' and 'M_1' would both be the variable CULMEN_PARAM_M_1 of the command; rename one");
  }
}

TEST(Command, sees_its_parameters_and_its_evaluation) {
  const auto outcome = evaluate(
      shell_spec("echo a = $CULMEN_EVALUATION; echo b = $CULMEN_ATTEMPT; echo c = $n; echo $CULMEN_PARAM_X"), 2);
  EXPECT_EQ(outcome.value, 1.5) << outcome.message;
  EXPECT_EQ(outcome.extras, (Extras{{"a", 7}, {"b", 2}, {"c", 2}}));
}

TEST(Command, gives_residuals) {
  auto spec = shell_spec("echo 3 4");
  spec.result = ResultKind::residuals;
  EXPECT_EQ(evaluate(spec).value, 25);
}

TEST(Command, runs_in_a_folder_of_its_own_that_is_kept) {
  const auto spec = shell_spec("pwd > where; cat; echo warning >&2; echo 1");
  EXPECT_TRUE(evaluate(spec).ok());
  const auto folder = spec.working_folder + "/7";
  EXPECT_EQ(read_file(folder + "/where"), folder + "\n");
  EXPECT_EQ(read_file(folder + "/stderr.txt"), "warning\n");
  EXPECT_FALSE(exists(folder + "/stdout.txt"));
  EXPECT_TRUE(evaluate(spec, 1).ok()) << "a second attempt in the same folder";
}

TEST(Command, keeps_no_folder_that_was_left_empty) {
  const auto spec = shell_spec("test $n = 2 || touch file; pwd | grep -q /$CULMEN_EVALUATION'$' || exit 1; echo 1");
  {
    const auto evaluator = make_evaluator({two_parameters(), spec});
    for (EvaluationId id = 0; id < 6; ++id)
      EXPECT_TRUE(evaluate(*evaluator, {id, {0, id % 3 == 1 ? 1.0 : 2.0}}).ok()) << id;
    EXPECT_TRUE(evaluate(*evaluator, {4, {0, 2}}, 1).ok()) << "a second attempt where the first has left a file";
  }
  for (int id = 0; id < 6; ++id) EXPECT_EQ(exists(spec.working_folder + "/" + std::to_string(id)), id % 3 == 1) << id;
}

TEST(Command, fails_with_its_exit_code_and_the_tail_of_stderr) {
  const auto spec = shell_spec("echo half way; echo it broke >&2; exit 3");
  const auto outcome = evaluate(spec);
  EXPECT_EQ(outcome.status, Status::failed);
  EXPECT_EQ(outcome.message, "the command ended with exit code 3\nit broke");
  EXPECT_EQ(read_file(spec.working_folder + "/7/stdout.txt"), "half way\n");
}

TEST(Command, crashes_with_the_name_of_the_signal) {
  const auto outcome = evaluate(shell_spec("kill -SEGV $$"));
  EXPECT_EQ(outcome.status, Status::crashed);
  EXPECT_EQ(outcome.message, "the command was killed by SIGSEGV");
}

TEST(Command, has_the_wrong_shape_without_a_number) {
  EXPECT_THAT(evaluate(shell_spec("true")).message, StartsWith("the program printed nothing"));
  const auto garbage = evaluate(shell_spec("head -c 10000 /dev/urandom; echo; echo well"));
  EXPECT_EQ(garbage.status, Status::wrong_shape);
  EXPECT_THAT(garbage.message, EndsWith("well"));
  EXPECT_EQ(evaluate(shell_spec("echo nan")).status, Status::not_finite);
}

TEST(Command, may_print_more_than_a_pipe_holds_on_both_ways) {
  const auto outcome = evaluate(shell_spec(
      "head -c 1000000 /dev/zero | tr '\\0' 'e' >&2; head -c 1000000 /dev/zero | tr '\\0' 'o'; echo; echo 5"));
  EXPECT_EQ(outcome.value, 5) << outcome.message;
}

TEST(Command, is_over_when_it_dies_whoever_holds_its_pipes_and_leaves_nothing_behind) {
  for (const char* ending : {"", "; exit 3", "; kill -SEGV $$"}) {
    const auto spec = shell_spec(std::string("sleep 3600 & echo 1") + ending);
    EXPECT_LT(evaluate(spec).duration_s, 5) << ending;
    EXPECT_TRUE(holds_within(patience_s, [&] { return processes_of(spec.run_marker).empty(); })) << ending;
  }
}

TEST(Command, is_killed_with_its_grandchildren_at_the_time_limit) {
  auto spec = shell_spec("echo started >&2; sleep 3600 & sleep 3600; echo 1");
  spec.time_limit_s = 0.2;
  const auto outcome = evaluate(spec);
  EXPECT_EQ(outcome.status, Status::timed_out);
  EXPECT_EQ(outcome.message, "the time limit of 0.2 s passed; its processes were killed\nstarted");
  EXPECT_TRUE(holds_within(patience_s, [&] { return processes_of(spec.run_marker).empty(); }));
}

TEST(Command, is_timed_out_though_it_has_closed_its_output) {
  auto spec = shell_spec("exec >&- 2>&-; sleep 3600");
  spec.time_limit_s = 0.1;
  EXPECT_EQ(evaluate(spec).status, Status::timed_out);
}

TEST(Command, a_folder_that_cannot_be_made_is_no_outcome) {
  auto spec = shell_spec("echo 1");
  const auto evaluator = make_evaluator({two_parameters(), spec});
  rmdir(spec.working_folder.c_str());
  try {
    evaluator->evaluate(some_candidate(), 0);
    FAIL();
  } catch (const ResourceError& error) {
    EXPECT_EQ(error.what(),
              "cannot make the evaluation's folder '" + spec.working_folder + "/7': No such file or directory");
  }
}

TEST(Command, is_found_before_it_is_needed) {
  const auto why = [](std::vector<std::string> command, const std::string& base_folder = {}) {
    auto spec = shell_spec("");
    spec.as<CommandSpec>().command = std::move(command);
    spec.base_folder = base_folder;
    return error_of_prepare(spec);
  };
  EXPECT_EQ(why({"no-such-program"}), "the command's program 'no-such-program' is not on PATH");
  EXPECT_EQ(why({"./model"}, "/some/folder"),
            "the command's program './model' is not an executable file (looked at /some/folder/model)");
  EXPECT_EQ(why({}), "the command is empty; give a program and its arguments");
}

TEST(Command, is_found_relative_to_the_base_folder) {
  auto spec = shell_spec("");
  spec.as<CommandSpec>().command = {"./sh", "-c", "echo 4"};
  spec.base_folder = "/bin";
  EXPECT_EQ(evaluate(spec).value, 4);
}

/// A study's folder with the program `./show` and its file `input`.
EvaluatorSpec spec_of_a_study(std::vector<std::string> arguments) {
  auto spec = shell_spec("");
  spec.base_folder = fresh_folder();
  std::ofstream(spec.base_folder + "/input") << "17\n";
  std::filesystem::create_symlink("/bin/cat", spec.base_folder + "/show");
  spec.as<CommandSpec>().command = std::move(arguments);
  return spec;
}

TEST(Command, knows_the_folder_of_its_study) {
  EXPECT_EQ(evaluate(spec_of_a_study({"sh", "-c", "$CULMEN_STUDY_FOLDER/show \"$CULMEN_STUDY_FOLDER/input\""})).value,
            17);
}

TEST(Command, sees_the_name_that_it_was_called_by) {
  EXPECT_EQ(evaluate(spec_of_a_study({"sh", "-c", "test $0 = sh && echo 1"})).value, 1);
  EXPECT_EQ(evaluate(spec_of_a_study({"/bin/sh", "-c", "test $0 = /bin/sh && echo 1"})).value, 1);
}

TEST(Command, that_fails_hints_at_a_word_that_names_a_file_of_the_study) {
  const auto spec = spec_of_a_study({"./show", "-u", "input"});
  EXPECT_EQ(
      evaluate(spec).message,
      "the command ended with exit code 1 (it runs in its own folder, which does not contain 'input'; write inputs = "
      "{ copy = [\"input\"] } to copy it there, or \"{CULMEN_STUDY_FOLDER}/input\" to use it where it is)\n" +
          spec.base_folder + "/show: input: No such file or directory");
  EXPECT_EQ(evaluate(spec_of_a_study({"./show", "nothing"})).message.find("its own"), std::string::npos);
}

}  // namespace
}  // namespace culmen
