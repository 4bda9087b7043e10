#include "culmen/base/executable.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "culmen/base/error.hpp"

namespace culmen {
namespace {

/// A program of our own making; removed in the end.
class Program {
 public:
  Program() : path(testing::TempDir() + "culmen-program-" + std::to_string(getpid())) {
    std::ofstream(path) << "#!/bin/sh\n";
    chmod(path.c_str(), 0755);
  }
  ~Program() { unlink(path.c_str()); }
  const std::string path;
};

/// An environment variable for a while.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* former = std::getenv(name)) former_ = former;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { former_.empty() ? unsetenv(name_) : setenv(name_, former_.c_str(), 1); }

 private:
  const char* name_;
  std::string former_;
};

TEST(IsProgram, is_true_of_files_that_may_be_executed) {
  const Program program;
  EXPECT_TRUE(is_program(program.path));
  EXPECT_FALSE(is_program(testing::TempDir())) << "a folder";
  EXPECT_FALSE(is_program("/etc/passwd"));
  EXPECT_FALSE(is_program("/no/such"));
}

TEST(FindOnPath, gives_an_absolute_path_though_the_folder_is_relative) {
  const Program program;
  const std::filesystem::path path = program.path;
  const auto name = path.filename().string();
  const auto relative = std::filesystem::relative(path.parent_path()).string();
  const Variable variable("PATH", "/no/such::/etc:" + relative + ":/bin");
  const auto found = find_on_path(name);
  EXPECT_EQ(found.substr(0, 1), "/") << found;
  EXPECT_TRUE(std::filesystem::equivalent(found, path)) << found;
  EXPECT_EQ(find_on_path("sh"), "/bin/sh");
  EXPECT_EQ(find_on_path("passwd-is-no-program"), "");
}

TEST(FindExecutable, obeys_the_environment_and_names_where_it_looked) {
  EXPECT_EQ(own_folder().front(), '/');
  const Variable nothing("CULMEN_EXECUTABLE", "/no/such");
  EXPECT_THROW(find_executable(), Error);
  const Program program;
  const Variable variable("CULMEN_EXECUTABLE", program.path);
  EXPECT_EQ(find_executable(), program.path);
}

}  // namespace
}  // namespace culmen
