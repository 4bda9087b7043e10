// Where the workers of a run are, and how many there are.
#include "culmen/study/crew/workplace.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "culmen/base/error.hpp"
#include "culmen/study/crew/cpus.hpp"
#include "culmen/study/crew/lent_workers.hpp"
#include "culmen/transport/mpi/launcher.hpp"

namespace culmen {
namespace {

WorkersWanted at(const char* place, std::size_t workers = 0) {
  WorkersWanted out;
  out.place = place;
  out.workers = workers;
  return out;
}

template <class F>
std::string complaint_of(F f) {
  try {
    f();
  } catch (const InputError& e) {
    return e.what();
  }
  return {};
}

class WorkplaceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (detect_launch().is_rank()) GTEST_SKIP() << "the tests run in a launch";
  }
  void TearDown() override {
    for (const auto* variable : {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS",
                                 "SLURM_STEP_TASKS_PER_NODE", "SLURM_NODEID", "SLURM_PROCID"})
      unsetenv(variable);
  }
  static void launch(const char* ranks) {
    setenv("PMI_RANK", "0", 1);
    setenv("PMI_SIZE", ranks, 1);
  }
};

TEST_F(WorkplaceTest, every_place_has_one_word_and_can_be_made) {
  std::set<std::string> words;
  for (const auto& word : place_words()) {
    EXPECT_TRUE(words.insert(word).second) << word;
    EXPECT_GE(workers_of(at(word.c_str())), 1U) << word;
    EXPECT_NO_THROW(check_place(word));
  }
  EXPECT_TRUE(words.contains("mpi"));
}

TEST_F(WorkplaceTest, that_is_unknown_is_answered_with_the_list) {
  const std::string list = R"( is not one of "auto", "threads", "processes", "mpi")";
  EXPECT_EQ(complaint_of([] { check_place("cloud"); }), "\"cloud\"" + list);
  EXPECT_EQ(complaint_of([] { make_workplace(at("cloud")); }), "\"cloud\"" + list);
  EXPECT_EQ(complaint_of([] { check_place("lent"); }), "\"lent\"" + list) << "what is lent says so itself";
  EXPECT_EQ(complaint_of([] { make_workplace(at("lent")); }), "place = \"lent\": no executor is lent to this run");
}

TEST_F(WorkplaceTest, of_automatic_is_the_ranks_in_a_launch_and_threads_elsewhere) {
  EXPECT_FALSE(uses_ranks({}));
  EXPECT_EQ(workers_of({}), usable_cpus());
  EXPECT_EQ(workers_of(at("auto", 3)), 3U);
  launch("9");
  EXPECT_TRUE(uses_ranks({}));
  EXPECT_EQ(workers_of({}), 8U);
  EXPECT_EQ(workers_of(at("auto", 3)), 8U) << "the ranks decide";
}

TEST_F(WorkplaceTest, of_ranks_on_several_nodes_has_a_rank_of_each_that_does_not_work) {
  launch("64");
  setenv("MPI_LOCALNRANKS", "16", 1);
  EXPECT_EQ(workers_of({}), 60U);
  EXPECT_EQ(make_workplace({})->local_workers(), 0U) << "each rank knows its own CPUs";
}

TEST_F(WorkplaceTest, of_ranks_in_a_step_of_slurm_knows_those_of_this_node) {
  const auto here = [](const char* tasks_per_node, const char* node) {
    setenv("SLURM_STEP_TASKS_PER_NODE", tasks_per_node, 1);
    setenv("SLURM_NODEID", node, 1);
    return detect_launch().here;
  };
  for (const bool with_pmi : {false, true}) {
    setenv("SLURM_STEP_ID", "0", 1);
    setenv("SLURM_STEP_NUM_TASKS", "9", 1);
    setenv("SLURM_PROCID", "0", 1);
    if (with_pmi) launch("9");
    EXPECT_EQ(here("3,2(x3)", "0"), 3);
    EXPECT_EQ(here("3,2(x3)", "3"), 2);
    EXPECT_EQ(here("9", "0"), 9);
    EXPECT_EQ(here("2(x3),3", "3"), 3);
    EXPECT_EQ(here("3", "5"), 9) << "as many as there are, if it is not known";
    EXPECT_EQ(here("so many", "0"), 9);
  }
  launch("4");
  EXPECT_EQ(here("3,2(x3)", "0"), 4) << "of a launch inside the step";
}

TEST_F(WorkplaceTest, that_others_join_has_the_own_workers_too) {
  auto open = at("threads", 3);
  open.listening.address = "tcp://127.0.0.1:0";
  EXPECT_EQ(make_workplace(open)->local_workers(), 3U);
  EXPECT_TRUE(make_workplace(open)->is_open());
  EXPECT_TRUE(make_workplace(open)->has_own_workers());
  EXPECT_FALSE(make_workplace(open)->uses_ranks());
  open.workers = 0;
  open.place = "auto";
  EXPECT_EQ(make_workplace(open)->local_workers(), 0U) << "only those who join";
  EXPECT_FALSE(make_workplace(open)->has_own_workers());
  launch("9");
  EXPECT_TRUE(make_workplace(open)->uses_ranks());
  EXPECT_TRUE(make_workplace(open)->has_own_workers());
}

TEST_F(WorkplaceTest, that_is_named_is_taken_in_a_launch_too) {
  launch("9");
  for (const auto place : {"threads", "processes"}) {
    EXPECT_FALSE(uses_ranks(at(place)));
    EXPECT_EQ(workers_of(at(place, 3)), 3U);
  }
}

TEST_F(WorkplaceTest, of_lent_workers_is_with_them_whatever_the_place) {
  launch("9");
  auto wanted = at("mpi", 3);
  wanted.lent = std::make_shared<LentWorkers>(5);
  EXPECT_FALSE(uses_ranks(wanted));
  EXPECT_EQ(workers_of(wanted), 5U);
}

}  // namespace
}  // namespace culmen
