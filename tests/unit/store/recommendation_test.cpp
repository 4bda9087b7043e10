#include "culmen/store/schema.hpp"
#include "store_test.hpp"

namespace culmen {
namespace {

class RecommendationTest : public StoreTest {
 protected:
  static CallRecord recommending(CallRecord call, double x) {
    call.recommended = Recommendation{{x, 2}, 1.5, 0.25, 7};
    return call;
  }
  std::optional<Recommendation> stored() const { return Journal::read(path).summary().recommended; }
};

TEST_F(RecommendationTest, is_that_of_the_last_call_that_was_committed) {
  auto journal = make(path);
  EXPECT_FALSE(stored());
  journal.append(recommending(ask(0, 2), 1));
  journal.append(outcome(0, 3));
  journal.append(recommending(tell({0}), 2));
  EXPECT_FALSE(stored());
  journal.commit();
  EXPECT_EQ(stored(), (Recommendation{{2, 2}, 1.5, 0.25, 7}));
  journal.append(outcome(1, 4));
  journal.commit();
  EXPECT_EQ(stored()->x.front(), 2) << "an outcome that was not told changes nothing";
  journal.append(tell({1}));
  journal.commit();
  EXPECT_FALSE(stored()) << "the optimizer took it back";
}

TEST_F(RecommendationTest, outlives_its_master_and_a_failed_commit) {
  {
    auto killed = make(path);
    killed.append(recommending(ask(0, 1), 1));
    killed.commit();
    killed.append(recommending(ask(1, 1), 2));
    EXPECT_THROW(killed.append(tell({7})), StoreError);
    EXPECT_EQ(stored()->x.front(), 1);
    killed.append(recommending(ask(1, 1), 3));
    killed.commit();
    EXPECT_EQ(stored()->x.front(), 3);
    killed.close();
  }
  auto resumed = Journal::resume(path, Durability::process);
  resumed.append(outcome(0, 3));
  resumed.commit();
  EXPECT_EQ(stored()->x.front(), 3);
}

TEST_F(RecommendationTest, that_is_damaged_is_named) {
  {
    auto journal = make(path);
    journal.append(recommending(ask(0, 1), 1));
    journal.close();
  }
  {
    auto database = open_for_writing(path, [](const std::string&) { return std::string(); });
    database.execute("UPDATE meta SET value = x'0105' WHERE key = 'recommended'");
  }
  EXPECT_THAT(error_of([&] { Journal::read(path); }), testing::HasSubstr("its recommendation is damaged"));
}

}  // namespace
}  // namespace culmen
