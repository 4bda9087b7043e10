// Where the workers of a run are, and how many there are.
#include "culmen/study/crew/workplace.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "culmen/study/crew/cpus.hpp"
#include "culmen/study/crew/lent_workers.hpp"
#include "culmen/transport/mpi/launcher.hpp"

namespace culmen {
namespace {

WorkersWanted at(Place place, std::size_t workers = 0) {
  WorkersWanted out;
  out.place = place;
  out.workers = workers;
  return out;
}

class WorkplaceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (detect_launch().is_rank()) GTEST_SKIP() << "the tests run in a launch";
  }
  void TearDown() override {
    unsetenv("PMI_RANK");
    unsetenv("PMI_SIZE");
    unsetenv("MPI_LOCALNRANKS");
  }
  static void launch(const char* ranks) {
    setenv("PMI_RANK", "0", 1);
    setenv("PMI_SIZE", ranks, 1);
  }
};

TEST_F(WorkplaceTest, every_place_has_one_word_and_can_be_made) {
  std::set<Place> seen;
  std::set<std::string> words;
  for (const auto& [place, word] : place_words()) {
    EXPECT_TRUE(seen.insert(place).second) << word;
    EXPECT_TRUE(words.insert(word).second) << word;
    EXPECT_GE(workers_of(at(place)), 1U) << word;
  }
  EXPECT_TRUE(seen.contains(Place::mpi));
}

TEST_F(WorkplaceTest, of_automatic_is_the_ranks_in_a_launch_and_threads_elsewhere) {
  EXPECT_FALSE(uses_ranks({}));
  EXPECT_EQ(workers_of({}), usable_cpus());
  EXPECT_EQ(workers_of(at(Place::automatic, 3)), 3U);
  launch("9");
  EXPECT_TRUE(uses_ranks({}));
  EXPECT_EQ(workers_of({}), 8U);
  EXPECT_EQ(workers_of(at(Place::automatic, 3)), 8U) << "the ranks decide";
}

TEST_F(WorkplaceTest, of_ranks_on_several_nodes_has_a_rank_of_each_that_does_not_work) {
  launch("64");
  setenv("MPI_LOCALNRANKS", "16", 1);
  EXPECT_EQ(workers_of({}), 60U);
  EXPECT_EQ(make_workplace({})->local_workers(), 15U);
}

TEST_F(WorkplaceTest, that_others_join_has_the_own_workers_too) {
  auto open = at(Place::threads, 3);
  open.listening.address = "tcp://127.0.0.1:0";
  EXPECT_EQ(make_workplace(open)->local_workers(), 3U);
  EXPECT_EQ(make_workplace(open)->first_visitor(), 3U);
  EXPECT_FALSE(make_workplace(open)->uses_ranks());
  open.workers = 0;
  open.place = Place::automatic;
  EXPECT_EQ(make_workplace(open)->local_workers(), 0U) << "only those who join";
  launch("9");
  EXPECT_TRUE(make_workplace(open)->uses_ranks());
  EXPECT_EQ(make_workplace(open)->first_visitor(), 8U);
}

TEST_F(WorkplaceTest, that_is_named_is_taken_in_a_launch_too) {
  launch("9");
  for (const auto place : {Place::threads, Place::processes}) {
    EXPECT_FALSE(uses_ranks(at(place)));
    EXPECT_EQ(workers_of(at(place, 3)), 3U);
  }
}

TEST_F(WorkplaceTest, of_lent_workers_is_with_them_whatever_the_place) {
  launch("9");
  auto wanted = at(Place::mpi, 3);
  wanted.lent = std::make_shared<LentWorkers>(5);
  EXPECT_FALSE(uses_ranks(wanted));
  EXPECT_EQ(workers_of(wanted), 5U);
}

}  // namespace
}  // namespace culmen
