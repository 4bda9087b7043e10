#include "culmen/store/call_codec.hpp"

#include <fmt/format.h>

#include "culmen/base/error.hpp"

namespace culmen {
namespace {

constexpr std::uint8_t version = 1;
constexpr std::uint64_t most_ids = 1U << 26;  // of one call; a larger number means damage

void encode_candidates(const std::vector<Candidate>& candidates, ByteWriter& out) {
  const auto first = candidates.empty() ? 0 : candidates.front().id;
  const auto dimension = candidates.empty() ? 0 : candidates.front().x.size();
  out.u64(first);
  out.u64(candidates.size());
  out.u64(dimension);
  for (std::size_t k = 0; k < candidates.size(); ++k) {
    const auto& candidate = candidates[k];
    if (candidate.id != first + k || candidate.x.size() != dimension)
      throw InputError(fmt::format(
          "an ask returned candidate {} with {} numbers, but it must be {} with {} (consecutive ids, one dimension)",
          candidate.id, candidate.x.size(), first + k, dimension));
    out.raw(candidate.x.data(), candidate.x.size() * sizeof(double));
  }
}

struct AskHead {
  std::uint64_t first, n, dimension;
};

AskHead decode_head(ByteReader& in) {
  const AskHead head{in.u64(), in.u64(), in.u64()};
  // A space has parameters: candidates without numbers would need no bytes, but memory.
  if (head.n > 0 && (head.dimension == 0 || head.dimension > in.left() / sizeof(double) / head.n))
    throw Error(fmt::format("{} candidates of {} numbers do not fit in its bytes", head.n, head.dimension));
  return head;
}

Candidate next_candidate(ByteReader& in, EvaluationId id, std::size_t dimension) {
  Candidate out{id, std::vector<double>(dimension)};
  const auto bytes = in.take(dimension * sizeof(double));
  if (!bytes.empty()) std::memcpy(out.x.data(), bytes.data(), bytes.size());
  return out;
}

void decode_candidates(ByteReader& in, std::vector<Candidate>& out) {
  const auto head = decode_head(in);
  out.reserve(head.n);
  for (std::size_t k = 0; k < head.n; ++k) out.push_back(next_candidate(in, head.first + k, head.dimension));
}

void check_version(ByteReader& in) {
  if (const auto v = in.u8(); v != version)
    throw Error(fmt::format("got a call of version {}, but this build knows version {}", v, version));
}

void encode_ids(const std::vector<EvaluationId>& ids, Bytes& bytes, ByteWriter& out) {
  const auto count_at = bytes.size();
  out.u64(0);
  std::uint64_t runs = 0;
  for (std::size_t at = 0; at < ids.size(); ++runs) {
    std::size_t end = at + 1;
    while (end < ids.size() && ids[end] == ids[end - 1] + 1) ++end;
    out.u64(ids[at]);
    out.u64(end - at);
    at = end;
  }
  std::memcpy(bytes.data() + count_at, &runs, sizeof runs);
}

void decode_ids(ByteReader& in, std::vector<EvaluationId>& out) {
  for (auto runs = in.u64(); runs > 0; --runs) {
    const auto first = in.u64(), length = in.u64();
    if (length > most_ids - out.size()) throw Error(fmt::format("a run of {} ids", length));
    for (std::uint64_t k = 0; k < length; ++k) out.push_back(first + k);
  }
}

}  // namespace

void encode(const CallRecord& call, Bytes& out) {
  ByteWriter writer(out);
  writer.u8(version);
  if (call.kind == CallKind::ask || call.kind == CallKind::saved) encode_candidates(call.candidates, writer);
  if (call.kind == CallKind::tell || call.kind == CallKind::cancel) encode_ids(call.ids, out, writer);
  writer.raw(call.note.data(), call.note.size());
}

void decode(BytesView in, CallRecord& out) {
  ByteReader reader(in);
  check_version(reader);
  out.candidates.clear();
  out.ids.clear();
  if (out.kind == CallKind::ask || out.kind == CallKind::saved) decode_candidates(reader, out.candidates);
  if (out.kind == CallKind::tell || out.kind == CallKind::cancel) decode_ids(reader, out.ids);
  out.note = text_in(reader.take(reader.left()));
}

std::optional<Candidate> decode_candidate(BytesView in, EvaluationId id) {
  ByteReader reader(in);
  check_version(reader);
  const auto head = decode_head(reader);
  if (id < head.first || id - head.first >= head.n) return {};
  reader.take((id - head.first) * head.dimension * sizeof(double));
  return next_candidate(reader, id, head.dimension);
}

}  // namespace culmen
