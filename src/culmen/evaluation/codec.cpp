#include "culmen/evaluation/codec.hpp"

#include <fmt/format.h>

#include <utility>

#include "culmen/base/error.hpp"

namespace culmen {
namespace {
constexpr std::uint8_t version = 2;

/// Returns the version, which is 1 or the present one.
std::uint8_t known_version(ByteReader& in, const char* what) {
  const auto v = in.u8();
  if (v == 0 || v > version)
    throw Error(fmt::format("got {} of version {}, but this build knows versions 1 to {}", what, v, version));
  return v;
}
}  // namespace

void encode(const Candidate& candidate, Bytes& out) {
  ByteWriter w(out);
  w.u8(version);
  w.u64(candidate.id);
  w.doubles(candidate.x);
  w.blob(candidate.payload);
}

void decode(BytesView in, Candidate& out) {
  ByteReader r(in);
  const auto v = known_version(r, "a candidate");
  out.id = r.u64();
  r.doubles(out.x);
  out.payload = v > 1 ? r.blob() : Bytes{};
}

namespace {
/// All in front of the payload's bytes.
void encode_front(const Outcome& outcome, Bytes& out) {
  ByteWriter w(out);
  w.u8(version);
  w.u8(static_cast<std::uint8_t>(outcome.status));
  w.f64(outcome.duration_s);
  w.f64(outcome.value);
  w.doubles(outcome.residuals);
  w.u32(static_cast<std::uint32_t>(outcome.extras.size()));
  for (const auto& [name, value] : outcome.extras) {
    w.text(name);
    w.f64(value);
  }
  w.text(outcome.message);
  w.doubles(outcome.values);
  w.f64(outcome.violation);
  w.u64(outcome.payload.size());
}
}  // namespace

void encode(const Outcome& outcome, Bytes& out) {
  encode_front(outcome, out);
  ByteWriter(out).raw(outcome.payload.data(), outcome.payload.size());
}

void encode(Outcome&& outcome, Bytes& out) {
  constexpr std::size_t large = std::size_t{1} << 20;
  if (outcome.payload.size() < large) return encode(std::as_const(outcome), out);
  encode_front(outcome, out);
  outcome.payload.insert(outcome.payload.begin(), out.begin(), out.end());
  out = std::move(outcome.payload);
}

void decode(BytesView in, Outcome& out) {
  const auto payload = decode_without_payload(in, out);
  Bytes copy;
  make_room(copy, payload.size());
  copy.assign(payload.begin(), payload.end());
  out.payload = std::move(copy);
}

BytesView decode_without_payload(BytesView in, Outcome& out) {
  ByteReader r(in);
  const auto v = known_version(r, "an outcome");
  const auto status = r.u8();
  if (status > static_cast<std::uint8_t>(Status::wrong_shape))
    throw Error(fmt::format("got an outcome of unknown status {}", status));
  out.status = static_cast<Status>(status);
  out.duration_s = r.f64();
  out.value = r.f64();
  r.doubles(out.residuals);
  out.extras.clear();
  for (auto n = r.u32(); n > 0; --n) {
    auto name = r.text();
    const double value = r.f64();
    out.extras.emplace_back(std::move(name), value);
  }
  out.message = r.text();
  out.values.clear();
  if (v > 1) r.doubles(out.values);
  out.violation = v > 1 ? r.f64() : 0;
  return v > 1 ? r.blob_view() : BytesView{};
}

void encode(const Recommendation& recommendation, Bytes& out) {
  ByteWriter w(out);
  w.u8(1);
  w.doubles(recommendation.x);
  w.f64(recommendation.value);
  w.f64(recommendation.error);
  w.u64(recommendation.evaluations);
}

void decode(BytesView in, Recommendation& out) {
  ByteReader r(in);
  if (const auto v = r.u8(); v != 1) throw Error(fmt::format("got a recommendation of unknown version {}", v));
  r.doubles(out.x);
  out.value = r.f64();
  out.error = r.f64();
  out.evaluations = r.u64();
}

std::uint64_t hash_of(const Candidate& candidate) {
  std::uint64_t h = 0xcbf29ce484222325ULL;
  for (double v : candidate.x) {
    h = (h ^ std::bit_cast<std::uint64_t>(v)) * 0x100000001b3ULL;
    h ^= h >> 29;
  }
  return h;
}

}  // namespace culmen
