#include "culmen/study/run/status_page.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace culmen {
namespace {
using nlohmann::json;

TEST(StatusPage, before_the_first_result_has_nulls) {
  const auto page = json::parse(status_page("fit", {}, 0));
  EXPECT_EQ(page["name"], "fit");
  EXPECT_EQ(page["state"], "starting");
  for (const auto* key : {"limit", "best_value", "running"}) EXPECT_TRUE(page.at(key).is_null()) << key;
}

TEST(StatusPage, has_the_progress) {
  Progress p;
  p.phase = Phase::running;
  p.evaluations = 70;
  p.budget = 100;
  p.best_value = 0.25;
  p.busy = 7;
  p.workers = 8;
  p.failed = 2;
  p.oldest = 69;
  p.oldest_since_s = 10;
  const auto page = json::parse(status_page("a \"fit\" \xff", p, 12.5));
  EXPECT_EQ(page["state"], "running");
  EXPECT_EQ(page["told"], 70);
  EXPECT_EQ(page["limit"], 100);
  EXPECT_EQ(page["best_value"], 0.25);
  EXPECT_EQ(page["workers"], 8);
  EXPECT_EQ(page["busy"], 7);
  EXPECT_EQ(page["failed"], 2);
  EXPECT_EQ(page["running"]["evaluation"], 69);
  EXPECT_EQ(page["running"]["age_s"], 2.5);
}

}  // namespace
}  // namespace culmen
