#include "culmen/evaluation/codec.hpp"

#include <gtest/gtest.h>

#include "culmen/base/error.hpp"
#include "culmen/base/random.hpp"

namespace culmen {
namespace {

Candidate random_candidate(Random& random) {
  Candidate c;
  c.id = random.next();
  c.x.resize(random.below(20));
  for (auto& v : c.x) v = random.normal();
  c.payload.assign(random.below(50), std::byte{7});
  return c;
}

Outcome random_outcome(Random& random) {
  Outcome o;
  o.status = static_cast<Status>(random.below(6));
  o.value = random.normal();
  o.duration_s = random.uniform();
  o.residuals.resize(random.below(30));
  for (auto& r : o.residuals) r = random.normal();
  for (auto n = random.below(4); n > 0; --n) o.extras.emplace_back("figure" + std::to_string(n), random.normal());
  o.message.assign(random.below(100), 'm');
  o.values.resize(random.below(4));
  for (auto& v : o.values) v = random.normal();
  o.violation = random.uniform();
  o.payload.assign(random.below(50), std::byte{7});
  return o;
}

TEST(Codec, candidates_survive) {
  Random random(1);
  for (int k = 0; k < 200; ++k) {
    const auto candidate = random_candidate(random);
    Bytes bytes;
    encode(candidate, bytes);
    Candidate back;
    decode(bytes, back);
    EXPECT_EQ(back, candidate);
  }
}

TEST(Codec, outcomes_survive) {
  Random random(2);
  for (int k = 0; k < 200; ++k) {
    const auto outcome = random_outcome(random);
    Bytes bytes, again;
    encode(outcome, bytes);
    Outcome back;
    decode(bytes, back);
    encode(back, again);
    EXPECT_EQ(again, bytes);
    EXPECT_EQ(back.message, outcome.message);
    EXPECT_EQ(back.residuals, outcome.residuals);
    EXPECT_EQ(back.extras, outcome.extras);
    EXPECT_EQ(back.status, outcome.status);
    EXPECT_EQ(back.values, outcome.values);
    EXPECT_EQ(back.violation, outcome.violation);
    EXPECT_EQ(back.payload, outcome.payload);
  }
}

TEST(Codec, a_large_payload_is_moved) {
  Random random(5);
  auto outcome = random_outcome(random);
  outcome.payload.assign(3 << 20, std::byte{7});
  outcome.payload.reserve(outcome.payload.size() + 1000);
  const auto* place = outcome.payload.data();
  const Bytes before = {std::byte{1}, std::byte{2}};
  Bytes copied = before, moved = before;
  encode(outcome, copied);
  encode(std::move(outcome), moved);
  EXPECT_TRUE(moved == copied);
  EXPECT_EQ(moved.data(), place);
  Outcome back;
  const auto payload = decode_without_payload(BytesView(moved).subspan(before.size()), back);
  EXPECT_EQ(payload.size(), 3U << 20);
  EXPECT_EQ(payload.data() + payload.size(), moved.data() + moved.size());
}

TEST(Codec, every_truncation_is_an_error_and_not_a_crash) {
  Random random(3);
  const auto outcome = random_outcome(random);
  Bytes bytes;
  encode(outcome, bytes);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    Outcome back;
    EXPECT_THROW(decode(BytesView(bytes).first(n), back), Error) << n;
  }
}

TEST(Codec, random_bytes_are_an_error_or_an_outcome_and_never_more) {
  Random random(4);
  for (int k = 0; k < 5000; ++k) {
    Bytes bytes(random.below(80));
    for (auto& b : bytes) b = static_cast<std::byte>(random.next());
    if (!bytes.empty()) bytes[0] = std::byte{1};
    Outcome outcome;
    Candidate candidate;
    try {
      decode(bytes, outcome);
    } catch (const Error&) {
    }
    try {
      decode(bytes, candidate);
    } catch (const Error&) {
    }
  }
}

TEST(Codec, what_version_1_wrote_is_read) {
  Bytes candidate, outcome;
  ByteWriter c(candidate), o(outcome);
  c.u8(1);
  c.u64(7);
  c.doubles(std::vector{1.5});
  o.u8(1);
  o.u8(0);
  o.f64(2);
  o.f64(3);
  o.doubles(std::vector{1.0});
  o.u32(0);
  o.text("m");
  Candidate c_back;
  Outcome o_back;
  decode(candidate, c_back);
  decode(outcome, o_back);
  EXPECT_EQ(c_back, (Candidate{7, {1.5}}));
  EXPECT_EQ(o_back.value, 3);
  EXPECT_EQ(o_back.message, "m");
  EXPECT_TRUE(o_back.feasible());
}

TEST(Outcome, feasible_is_better_than_infeasible_and_that_better_than_a_failure) {
  auto good = Outcome::of_value(9), bad = Outcome::of_value(1), worse = Outcome::of_value(0);
  bad.violation = 1;
  worse.violation = 2;
  EXPECT_TRUE(better(good, bad));
  EXPECT_TRUE(better(bad, worse));
  EXPECT_TRUE(better(worse, Outcome::failure(Status::failed, "")));
  EXPECT_FALSE(better(good, good));
  EXPECT_EQ(merit_of(bad), INFINITY);
}

TEST(Codec, an_unknown_version_is_named) {
  Bytes bytes;
  encode(Candidate{1, {2}}, bytes);
  bytes[0] = std::byte{9};
  Candidate back;
  try {
    decode(bytes, back);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("version 9"), std::string::npos);
  }
}

TEST(Codec, the_hash_tells_candidates_apart) {
  EXPECT_NE(hash_of({0, {1, 2}}), hash_of({0, {2, 1}}));
  EXPECT_NE(hash_of({0, {1}}), hash_of({0, {1, 0}}));
  EXPECT_EQ(hash_of({0, {1, 2}}), hash_of({7, {1, 2}}));
}

TEST(Outcome, residuals_are_summed_in_squares) {
  const auto outcome = Outcome::of_residuals({3, 4});
  EXPECT_EQ(outcome.value, 25);
  EXPECT_TRUE(outcome.ok());
}

TEST(Outcome, nan_and_infinity_are_not_finite_and_named) {
  auto value = Outcome::of_value(NAN);
  value.check_finite();
  EXPECT_EQ(value.status, Status::not_finite);
  auto residual = Outcome::of_residuals({1, INFINITY, 2});
  residual.check_finite();
  EXPECT_EQ(residual.status, Status::not_finite);
  EXPECT_EQ(residual.message, "residual 1 of 3 is inf");
  auto overflow = Outcome::of_residuals({1e200});
  overflow.check_finite();
  EXPECT_EQ(overflow.status, Status::not_finite);
}

}  // namespace
}  // namespace culmen
