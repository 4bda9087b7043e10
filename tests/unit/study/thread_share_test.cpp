// How many threads libraries may use in each worker.
#include "culmen/study/crew/thread_share.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "culmen/study/crew/cpus.hpp"

namespace culmen {
namespace {

class ThreadShare : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const auto& name : thread_variables()) {
      if (const char* value = std::getenv(name.c_str())) former_[name] = value;
      unsetenv(name.c_str());
    }
  }
  void TearDown() override {
    for (const auto& name : thread_variables()) unsetenv(name.c_str());
    for (const auto& [name, value] : former_) setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  std::map<std::string, std::string> former_;
};

TEST_F(ThreadShare, of_a_worker_is_its_share_of_the_cpus) {
  const auto cpus = usable_cpus();
  EXPECT_TRUE(thread_share(1, {}).empty());
  EXPECT_EQ(thread_share(2, {}).at("OMP_NUM_THREADS"), std::to_string(std::max<std::size_t>(1, cpus / 2)));
  const auto crowded = thread_share(10 * cpus, {});
  EXPECT_EQ(crowded.size(), thread_variables().size());
  for (const auto& [name, value] : crowded) EXPECT_EQ(value, "1") << name;
}

TEST_F(ThreadShare, is_the_users_if_there_is_one) {
  EvaluatorSpec spec;
  spec.environment["MKL_NUM_THREADS"] = "3";
  EXPECT_TRUE(thread_share(4, spec).empty());
  spec.environment = {{"OMP_NUM_THREADS", std::nullopt}};
  EXPECT_TRUE(thread_share(4, spec).empty());
  spec.environment = {};
  spec.modules = {"gcc/12"};
  EXPECT_TRUE(thread_share(4, spec).empty());
  setenv("OPENBLAS_NUM_THREADS", "3", 1);
  EXPECT_TRUE(thread_share(4, {}).empty());
}

}  // namespace
}  // namespace culmen
