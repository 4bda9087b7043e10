// How many threads libraries may use in each worker.
#include "culmen/study/crew/thread_share.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <initializer_list>
#include <vector>

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

cpu_set_t cpus(std::initializer_list<int> numbers) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int number : numbers) CPU_SET(number, &set);
  return set;
}

TEST(RanksOnTheseCpus, are_all_but_the_master_if_the_launcher_binds_none) {
  const auto all = cpus({0, 1, 2, 3});
  const std::vector ranks(3, all);
  EXPECT_EQ(ranks_on_these_cpus(3, all, all, ranks), 2U);
  EXPECT_EQ(ranks_on_these_cpus(1, all, all, std::vector{all}), 1U);
}

TEST(RanksOnTheseCpus, are_those_whose_cpus_overlap_if_the_launcher_binds_them) {
  const auto all = cpus({0, 1, 2, 3}), left = cpus({0, 1}), right = cpus({2, 3});
  EXPECT_EQ(ranks_on_these_cpus(2, right, all, std::vector{left, right}), 1U) << "a rank has both CPUs for itself";
  EXPECT_EQ(ranks_on_these_cpus(4, right, all, std::vector{left, left, right, right}), 2U) << "two on each socket";
}

TEST(RanksOnTheseCpus, are_all_but_the_master_if_a_script_stands_between_launcher_and_rank) {
  const auto all = cpus({0, 1, 2, 3});
  EXPECT_EQ(ranks_on_these_cpus(5, all, all, std::vector{all}), 4U);
  EXPECT_EQ(ranks_on_these_cpus(5, all, all, {}), 4U);
}

}  // namespace
}  // namespace culmen
