#include "culmen/transport/network/web_pages.hpp"

#include <gmock/gmock.h>

namespace culmen {
namespace {
using ::testing::HasSubstr;

const WebPages pages("secret", [] { return std::string("{\"told\": 3}"); });

TEST(WebPages, health_is_open_and_says_only_ok) {
  const auto page = pages.answer("GET", "/healthz", "");
  EXPECT_EQ(page.code, 200U);
  EXPECT_EQ(page.body, "ok\n");
}

TEST(WebPages, status_needs_the_token) {
  const auto page = pages.answer("GET", "/status", "Bearer secret");
  EXPECT_EQ(page.code, 200U);
  EXPECT_EQ(pages.answer("GET", "/status", "BEARER secret").code, 200U);
  EXPECT_EQ(page.type, "application/json");
  EXPECT_EQ(page.body, "{\"told\": 3}\n");
  for (const auto* other : {"", "secret", "Basic secret", "Bearersecret"}) {
    EXPECT_EQ(pages.answer("GET", "/status", other).code, 401U) << other;
    EXPECT_THAT(pages.answer("GET", "/status", other).body, HasSubstr("Authorization: Bearer TOKEN"));
  }
  for (const auto* wrong : {"Bearer ", "Bearer secre", "Bearer secret ", "Bearer Secret"})
    EXPECT_EQ(pages.answer("GET", "/status", wrong).code, 403U) << wrong;
}

TEST(WebPages, status_is_open_if_the_run_has_no_token) {
  EXPECT_EQ(WebPages("", [] { return std::string("{}"); }).answer("GET", "/status", "").body, "{}\n");
}

TEST(WebPages, other_requests_are_refused_with_what_there_is) {
  EXPECT_EQ(pages.answer("GET", "/", "Bearer secret").code, 404U);
  EXPECT_THAT(pages.answer("GET", "/favicon.ico", "").body, HasSubstr("it has /healthz and /status"));
  EXPECT_EQ(pages.answer("POST", "/status", "Bearer secret").code, 405U);
}

}  // namespace
}  // namespace culmen
