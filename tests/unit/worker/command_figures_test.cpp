// The input of commands by templates, words and standard input, and the figures that are read from their output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "culmen/base/error.hpp"
#include "culmen/worker/command/command_evaluator.hpp"
#include "culmen/worker/command/command_output.hpp"
#include "culmen/worker/command/placeholders.hpp"
#include "helpers.hpp"

namespace culmen {
namespace {
using testing::HasSubstr;
using testing::StartsWith;
using Extras = std::vector<std::pair<std::string, double>>;
namespace fs = std::filesystem;

FigureSource word(std::string file = {}) { return {"value", std::move(file), Reading::last_word, {}, false}; }
FigureSource key(std::string path, std::string file = {}) {
  return {"value", std::move(file), Reading::json, std::move(path), false};
}
FigureSource regex(std::string pattern, bool first = false) {
  return {"value", {}, Reading::regex, std::move(pattern), first};
}

double one(const FigureSource& source, std::string_view text) { return FigureReader(source).one(text); }
std::vector<double> all(const FigureSource& source, std::string_view text) { return FigureReader(source).all(text); }

template <class Action>
std::string sentence_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(FigureReader, takes_a_number_from_json_by_its_key) {
  const std::string tree = R"({"energy": {"total": -1.5, "parts": [1, 2e3]}, "a.b": {"c": 4}, "n": 7})";
  EXPECT_EQ(one(key("energy.total"), tree), -1.5);
  EXPECT_EQ(one(key("energy.parts.1"), tree), 2000);
  EXPECT_EQ(one(key("/a.b/c"), tree), 4);
  EXPECT_EQ(one(key("/energy/parts/0"), tree), 1);
  EXPECT_EQ(one(key("n"), "step 1\nstep 2 {\n" + tree + "\n"), 7) << "the last line, after a log";
  EXPECT_EQ(one(key(""), "3.5"), 3.5);
  EXPECT_EQ(all(key("energy.parts"), tree), (std::vector<double>{1, 2000}));
  EXPECT_EQ(all(key(""), "[1, 2]"), (std::vector<double>{1, 2}));
}

TEST(FigureReader, says_what_is_wrong_with_json) {
  const auto why = [](const FigureSource& source, std::string_view text) {
    return sentence_of([&] { one(source, text); });
  };
  EXPECT_EQ(why(key("a"), "{"), "the standard output is not JSON");
  EXPECT_EQ(why(key("a.c", "r.json"), R"({"a": {"b": 1}})"), "there is no 'a.c' in the file 'r.json'");
  EXPECT_EQ(why(key("a"), R"({"a": "x"})"), "'a' in the standard output is of type string, but must be a number");
  EXPECT_EQ(why(key("a"), R"({"a": null})"), "'a' in the standard output is null, but must be a number");
  EXPECT_EQ(why(key("/a/~2"), "{}"), "there is no '/a/~2' in the standard output");
  EXPECT_EQ(sentence_of([] { all(key("a"), R"({"a": 1})"); }), "'a' in the standard output is not an array");
  EXPECT_EQ(sentence_of([] { all(key("b"), R"({"a": 1})"); }), "there is no 'b' in the standard output");
  EXPECT_EQ(sentence_of([] { all(key("a"), R"({"a": []})"); }), "there is no number in the standard output");
}

TEST(FigureReader, takes_the_last_or_the_first_match_and_all_of_them) {
  const std::string log = "step 1 ENERGY  -3.5 eV\nstep 2 ENERGY  -1.25D+01 eV\n";
  EXPECT_EQ(one(regex(R"(ENERGY\s+(\S+))"), log), -12.5) << "with Fortran's exponent";
  EXPECT_EQ(one(regex(R"(ENERGY\s+(\S+))", true), log), -3.5);
  EXPECT_EQ(one(regex(R"(^\d+$)"), "a 1\n22\nb 3\n"), 22) << "^ and $ at every line, the whole match";
  EXPECT_EQ(all(regex(R"(step (\d+))"), log), (std::vector<double>{1, 2}));
  EXPECT_EQ(sentence_of([&] { one(regex("FORCE (.*)"), log); }), "'FORCE (.*)' matches nothing in the standard output");
  EXPECT_EQ(sentence_of([&] { one(regex("ENERGY.* (eV)"), log); }), "'eV' in the standard output is not a number");
  EXPECT_EQ(sentence_of([&] { one(regex("x*"), log); }), "'' in the standard output is not a number");
}

TEST(FigureReader, cannot_be_made_to_hang) {
  EXPECT_THAT(sentence_of([] { one(regex("(a+)+b"), std::string(1'000'000, 'a')); }), HasSubstr("matches nothing"));
  EXPECT_THAT(sentence_of([] { one(regex("(x+x+)+y"), std::string(100'000, 'x')); }), HasSubstr("matches nothing"));
  EXPECT_THAT(sentence_of([] { one(key("a"), std::string(1'000'000, '[')); }), HasSubstr("is not JSON"));
}

TEST(FigureReader, refuses_what_is_no_regular_expression) {
  EXPECT_EQ(sentence_of([] { FigureReader(regex("ENERGY (")); }),
            "value: 'ENERGY (' is not a regular expression: missing ): ENERGY (");
}

TEST(FigureReader, reads_a_whole_file_of_numbers_but_for_its_comments) {
  EXPECT_EQ(all(word("r.dat"), "# a b\n1 2\n  # c\n3d0\n"), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(sentence_of([] { all(word("r.dat"), "1 two"); }), "'two' in the file 'r.dat' is not a number");
  EXPECT_EQ(sentence_of([] { one(word("r.dat"), " \n"); }), "the file 'r.dat' is empty; it must contain a number");
}

std::string filled(const std::string& text, PlaceholderStyle style) {
  const Space space{real("x", 0, 1), integer("n", 0, 9), real("a:b", 0, 1)};
  return PlaceholderText(text, space, style).fill({0.1, 3, 2});
}

TEST(Placeholders, take_values_with_and_without_a_format) {
  const auto words = PlaceholderStyle::words, file = PlaceholderStyle::file;
  EXPECT_EQ(filled("--x={x} -n{n}", words), "--x=0.1 -n3");
  EXPECT_EQ(filled("{x:.3e} {n:04d} {n:.1f} {a:b} {a:b:.1f}", words), "1.000e-01 0003 3.0 2 2.0");
  EXPECT_EQ(filled("x = {{x:8.4f}}\nn = {{ n }};{{x}}{{n}}\n", file), "x =   0.1000\nn = 3;0.13\n");
  EXPECT_EQ(filled("{{ x : 8.4f }}{{\tn\t}}", file), "  0.10003") << "blanks and tabs inside do not matter";
}

TEST(Placeholders, leave_other_braces_alone) {
  const auto words = PlaceholderStyle::words, file = PlaceholderStyle::file;
  for (const char* text : {"${x}", "awk '{print $1}'", "{}", "{", "{{", "}{", "{ x\n}", "{print}", "{1}"})
    EXPECT_EQ(filled(text, words), text);
  EXPECT_EQ(filled("{{1,2},{3,4}} {x} {{ 3 }} {{}} \\frac{{a}{b}}", file),
            "{{1,2},{3,4}} {x} {{ 3 }} {{}} \\frac{{a}{b}}");
  EXPECT_EQ(filled("{\"x\": {{x}}}", file), "{\"x\": 0.1}");
}

TEST(Placeholders, that_must_be_mistakes_are_told) {
  const auto why = [](const std::string& text, PlaceholderStyle style) {
    const Space space{real("width", 0, 1), integer("n", 0, 9)};
    return sentence_of([&] { PlaceholderText(text, space, style); });
  };
  const auto words = PlaceholderStyle::words, file = PlaceholderStyle::file;
  EXPECT_EQ(why("a\n{{widht}}", file), "line 2: {{widht}} is not a parameter (did you mean 'width'?)");
  EXPECT_EQ(why("{{other}}", file), "line 1: {{other}} is not a parameter");
  EXPECT_EQ(why("--w={widht}", words), "{widht} is not a parameter (did you mean 'width'?)");
  EXPECT_EQ(why("{width:.3q}", words),
            "'.3q' is not a format for the real parameter 'width'; write one like .6e or 12.4f");
  EXPECT_EQ(why("{width:03d}", words),
            "'03d' is not a format for the real parameter 'width'; write one like .6e or 12.4f");
  EXPECT_EQ(why("{n:99999d}", words),
            "'99999d' is not a format for the integer parameter 'n'; write one like 05d, .6e or 12.4f");
}

TEST(Placeholders, hold_choices_and_flags) {
  const Space space{categorical("material", {"steel", "alu"}), boolean("heat"), ordinal("grade", {1.0, 2.5})};
  const auto fill = [&](const std::string& text) {
    return PlaceholderText(text, space, PlaceholderStyle::file).fill({1, 1, 0});
  };
  EXPECT_EQ(fill("{{material}} {{heat}} {{grade}} {{material:>6}}|{{grade:.2f}}"), "alu true 1    alu|1.00");
  EXPECT_EQ(
      sentence_of([&] { fill("{{material:.3e}}"); }),
      "'.3e' is not a format for steel, a choice of the categorical parameter 'material'; write one like >8 or <12");
}

TEST(Placeholders, hold_choices_of_several_types) {
  const Space space{categorical("limit", {std::monostate(), true, std::int64_t{3}})};
  const auto fill = [&](double x) {
    return PlaceholderText("{{limit}}|{{limit:>5}}", space, PlaceholderStyle::file).fill(std::vector{x});
  };
  EXPECT_EQ(fill(0), "none| none");
  EXPECT_EQ(fill(1), "true| true");
  EXPECT_EQ(fill(2), "3|    3");
}

TEST(Command, takes_what_inactive_parameters_are_at_rest_into_places_only) {
  auto depth = real("depth", 0, 4);
  depth.active_when = "heat";
  auto spec = shell_spec("cat in.txt; cat; echo ${CULMEN_PARAM_DEPTH-none}; echo 1");
  spec.as<CommandSpec>().templates = {{"in.txt", "{{heat}} {{depth}}\n"}};
  spec.as<CommandSpec>().json_stdin = true;
  spec.output = Keep::all;
  const double inactive = std::numeric_limits<double>::quiet_NaN();
  const auto evaluator = make_evaluator({Space{boolean("heat"), depth}, spec});
  const auto outcome = evaluator->evaluate({7, {0, inactive}}, 0);
  EXPECT_TRUE(outcome.ok());
  evaluator->judged(outcome);
  EXPECT_EQ(read_file(spec.working_folder + "/7/stdout.txt"), "false 2\n{\"heat\":false}\nnone\n1\n");
}

TEST(Command, takes_words_variables_and_templates_with_values) {
  auto spec = shell_spec("cat deck/input.in >&2; echo $1 $W ${REMOVED-gone}; echo $2");
  spec.as<CommandSpec>().command.insert(spec.as<CommandSpec>().command.end(), {"show", "{n:03d}", "{x}"});
  spec.environment = {{"W", "<{x:.2f}>"}, {"FIXED", "1"}, {"REMOVED", std::nullopt}};
  spec.as<CommandSpec>().templates = {{"deck/input.in", "x {{x:.3e}}\nn {{n}}\n"}};
  spec.output = Keep::all;
  setenv("REMOVED", "not", 1);
  const auto outcome = evaluate(spec);
  unsetenv("REMOVED");
  EXPECT_EQ(outcome.value, 1.5) << outcome.message;
  EXPECT_EQ(read_file(spec.working_folder + "/7/stdout.txt"), "002 <1.50> gone\n1.5\n");
  EXPECT_EQ(read_file(spec.working_folder + "/7/stderr.txt"), "x 1.500e+00\nn 2\n");
}

TEST(Command, gets_its_parameters_as_json_again_and_again) {
  auto spec = shell_spec("cat > in.json; cat in.json; echo; echo 1");
  spec.as<CommandSpec>().json_stdin = true;
  const auto evaluator = make_evaluator({two_parameters(), spec});
  for (int i = 0; i < 3; ++i) {
    const auto outcome = evaluator->evaluate({7, {i == 0 ? 1.0 / 3 : 2, 2}}, 0);
    EXPECT_TRUE(outcome.ok()) << outcome.message;
    EXPECT_EQ(read_file(spec.working_folder + "/7/in.json"),
              i == 0 ? "{\"x\":0.3333333333333333,\"n\":2}\n" : "{\"x\":2.0,\"n\":2}\n");
  }
}

TEST(Command, gives_several_figures_of_several_places) {
  auto spec = shell_spec("echo '{\"e\": {\"t\": 4}}' > r.json; echo 'STRESS 1'; echo 'STRESS 2'; echo 9");
  spec.as<CommandSpec>().figures = {{"energy", "r.json", Reading::json, "e.t", false},
                                    {"stress", "", Reading::regex, "STRESS (.*)", false},
                                    {"value", "", Reading::last_word, "", false}};
  auto outcome = evaluate(spec);
  EXPECT_EQ(outcome.value, 9) << outcome.message;
  EXPECT_EQ(outcome.extras, (Extras{{"energy", 4}, {"stress", 2}}));
  spec.as<CommandSpec>().figures.pop_back();
  outcome = evaluate(spec);
  EXPECT_EQ(outcome.value, 4) << "without one called value, the first";
  EXPECT_EQ(outcome.extras, (Extras{{"energy", 4}, {"stress", 2}}));
}

TEST(Command, gives_residuals_of_a_file_beside_other_figures) {
  auto spec = shell_spec("printf '3\\n4\\n' > r.dat; echo 0.5");
  spec.result = ResultKind::residuals;
  spec.as<CommandSpec>().figures = {{"time", "", Reading::last_word, "", false},
                                    {"residuals", "r.dat", Reading::last_word, "", false}};
  const auto outcome = evaluate(spec);
  EXPECT_EQ(outcome.residuals, (std::vector<double>{3, 4})) << outcome.message;
  EXPECT_EQ(outcome.value, 25);
  EXPECT_EQ(outcome.extras, (Extras{{"time", 0.5}}));
}

TEST(Command, has_the_wrong_shape_without_its_file_and_reads_none_of_a_former_attempt) {
  auto spec = shell_spec("test $CULMEN_ATTEMPT = 1 || echo 5 > out.dat; true");
  spec.as<CommandSpec>().figures = {word("out.dat")};
  EXPECT_EQ(evaluate(spec).value, 5);
  const auto outcome = evaluate(spec, 1);
  EXPECT_EQ(outcome.status, Status::wrong_shape);
  EXPECT_EQ(outcome.message, "the program wrote no file 'out.dat'");
  for (const char* make : {"mkfifo out.dat", "mkdir out.dat"}) {
    auto strange = shell_spec(make);
    strange.as<CommandSpec>().figures = {word("out.dat")};
    EXPECT_EQ(evaluate(strange).message, "'out.dat' is not a regular file");
  }
}

TEST(Command, finds_its_inputs_copied_and_linked) {
  auto spec =
      shell_spec("test -L big/table && ! test -L small.dat && cat small.dat big/table && echo x >> small.dat; echo 1");
  const auto study = fresh_folder();
  std::ofstream(study + "/table") << "17\n";
  spec.as<CommandSpec>().inputs = {{study + "/table", "small.dat", false}, {study + "/table", "big/table", true}};
  EXPECT_TRUE(evaluate(spec).ok());
  EXPECT_TRUE(evaluate(spec, 1).ok()) << "a second attempt in the same folder";
  EXPECT_EQ(read_file(spec.working_folder + "/7/small.dat"), "17\nx\n") << "a fresh copy each time";
  EXPECT_EQ(read_file(study + "/table"), "17\n");
  fs::remove(study + "/table");
  EXPECT_THAT(sentence_of([&] { evaluate(spec); }), StartsWith("cannot copy '" + study + "/table': "));
}

TEST(Command, keeps_the_folders_that_it_is_told_to) {
  for (const auto keep : {Keep::all, Keep::failures, Keep::none}) {
    auto spec = shell_spec("touch file; mkdir -p a/b; test $n = 2 && echo 1");
    spec.as<CommandSpec>().keep = keep;
    {
      const auto evaluator = make_evaluator({two_parameters(), spec});
      for (EvaluationId id = 0; id < 4; ++id) evaluate(*evaluator, {id, {0, id % 2 == 1 ? 2.0 : 1.0}});
    }
    for (int id = 0; id < 4; ++id) {
      EXPECT_EQ(fs::exists(spec.working_folder + "/" + std::to_string(id) + "/a/b"),
                keep == Keep::all || (keep == Keep::failures && id % 2 == 0))
          << id;
    }
    EXPECT_EQ(fs::exists(spec.working_folder + "/1"), keep == Keep::all);
  }
}

TEST(Command, that_lacks_an_objective_is_a_failure_whose_folder_stays) {
  auto spec = shell_spec("echo $n > file; test $n = 1 || echo cost = 2; echo other = 3; echo done = 1");
  spec.result = ResultKind::figures;
  spec.as<CommandSpec>().keep = Keep::failures;
  {
    const Goals goals{{{"cost"}}, {}};
    const auto evaluator = make_evaluator({two_parameters(), spec, goals});
    for (EvaluationId id = 0; id < 2; ++id) evaluate(*evaluator, {id, {0, id == 1 ? 1.0 : 2.0}}, 0, goals);
  }
  EXPECT_FALSE(fs::exists(spec.working_folder + "/0"));
  EXPECT_EQ(read_file(spec.working_folder + "/1/stdout.txt"), "other = 3\ndone = 1\n");
}

TEST(Command, is_checked_before_anything_runs) {
  const auto why = [](const EvaluatorSpec& spec) {
    return sentence_of([&] { check_command({two_parameters(), spec}); });
  };
  auto spec = shell_spec("");
  spec.as<CommandSpec>().templates = {{"input.in", "nothing"}};
  EXPECT_EQ(why(spec),
            "templates, input.in: it contains no parameter such as {{x}}; to copy a file unchanged, use inputs.copy");
  spec.as<CommandSpec>().templates = {{"input.in", "{{x}}"}};
  EXPECT_EQ(why(spec), "templates: none contains {{n}}, so the parameter 'n' would have no effect");
  EXPECT_EQ(sentence_of([&] {
              check_command({two_parameters(), spec, {.derived = {{"e", "2 * n"}}}});
            }),
            "nothing was thrown");
  const Space fixed({two_parameters().all()[0], fixed_at(two_parameters().all()[1], 2.0)});
  EXPECT_EQ(sentence_of([&] { check_command({fixed, spec}); }), "nothing was thrown");
  spec.environment = {{"N", "{n}"}};
  EXPECT_EQ(why(spec), "nothing was thrown");
  spec.as<CommandSpec>().templates = {{"input.in", "{{x}}\n{{m}}"}};
  EXPECT_EQ(why(spec), "templates, input.in: line 2: {{m}} is not a parameter");
  spec = shell_spec("");
  spec.as<CommandSpec>().figures = {{"e", "", Reading::regex, "[", false}};
  EXPECT_EQ(why(spec), "e: '[' is not a regular expression: missing ]: [");
}

TEST(Modules, change_the_environment_of_a_command_and_its_path) {
  const auto home = fresh_folder();
  std::ofstream(home + "/.bash_profile")
      << "module() { test \"$2\" = tool/2 || { echo \"no module $2\" >&2; return 1; }\n"
         "export PATH=" +
             home + ":$PATH TOOL='a b\nc'; }\n";
  std::ofstream(home + "/the-tool") << "#!/bin/sh\ntest \"$TOOL\" = 'a b\nc' && echo 8\n";
  chmod((home + "/the-tool").c_str(), 0755);
  const std::string former = getenv("HOME") != nullptr ? getenv("HOME") : "";
  setenv("HOME", home.c_str(), 1);
  auto spec = shell_spec("");
  spec.as<CommandSpec>().command = {"the-tool"};
  spec.modules = {"tool/2"};
  EXPECT_EQ(evaluate(spec).value, 8) << evaluate(spec).message;
  spec.modules = {"tool/3"};
  EXPECT_EQ(error_of_prepare(spec),
            "the modules tool/3 cannot be loaded\nno module tool/3\nmodule load tool/3 ended with exit code 1");
  std::ofstream(home + "/.bash_profile") << "\n";
  spec.modules = {"tool/4"};
  EXPECT_EQ(error_of_prepare(spec),
            "the study needs the modules tool/4, but a login shell (bash -l) has no command 'module'");
  setenv("HOME", former.c_str(), 1);
}

}  // namespace
}  // namespace culmen
