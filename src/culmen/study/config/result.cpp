#include "culmen/study/config/result.hpp"

#include "culmen/evaluation/codec.hpp"

namespace culmen {
Bytes encode(const StudyResult& r) {
  Bytes out;
  ByteWriter w(out);
  w.u8(static_cast<std::uint8_t>(r.reason));
  w.text(r.message);
  for (auto n : {r.counts.asked, r.counts.told, r.counts.failed, r.counts.retried, r.counts.lost, r.counts.dropped})
    w.u64(n);
  w.u8(r.has_best);
  w.u8(r.store_failed);
  w.f64(r.wall_s);
  w.u32(r.workers);
  w.u32(r.team_size);
  w.u32(r.nodes);
  w.text(r.store);
  w.text(r.first_failure);
  Bytes part;
  encode(r.best, part);
  w.blob(part);
  part.clear();
  encode(r.best_outcome, part);
  w.blob(part);
  encode(r.goals, w);
  for (const auto* text : {&r.optimizer, &r.optimizer_why, &r.remark}) w.text(*text);
  w.u8(static_cast<std::uint8_t>(r.mode));
  for (const auto seconds : {r.evaluated_s, r.served_s, r.present_s}) w.f64(seconds);
  w.u8(r.recommended.has_value());
  part.clear();
  if (r.recommended) encode(*r.recommended, part);
  w.blob(part);
  w.u64(r.front.members().size());
  for (const auto& m : r.front.members()) {
    part.clear();
    encode(m.candidate, part);
    w.blob(part);
    part.clear();
    encode(m.outcome, part);
    w.blob(part);
  }
  return out;
}

StudyResult decode_result(BytesView in) {
  ByteReader b(in);
  StudyResult r;
  r.reason = b.member(StopReason::error, "stop reason");
  r.message = b.text();
  for (auto* n :
       {&r.counts.asked, &r.counts.told, &r.counts.failed, &r.counts.retried, &r.counts.lost, &r.counts.dropped})
    *n = b.u64();
  r.has_best = b.u8() != 0;
  r.store_failed = b.u8() != 0;
  r.wall_s = b.f64();
  r.workers = b.u32();
  r.team_size = b.u32();
  r.nodes = b.u32();
  r.store = b.text();
  r.first_failure = b.text();
  decode(b.blob(), r.best);
  decode(b.blob(), r.best_outcome);
  r.goals = decode_goals(b);
  for (auto* text : {&r.optimizer, &r.optimizer_why, &r.remark}) *text = b.text();
  r.mode = b.member(Mode::asynchronous, "mode");
  for (auto* seconds : {&r.evaluated_s, &r.served_s, &r.present_s}) *seconds = b.f64();
  const bool recommends = b.u8() != 0;
  if (const auto part = b.blob(); recommends) decode(part, r.recommended.emplace());
  for (auto n = b.u64(); n > 0; --n) {
    Evaluated m;
    decode(b.blob(), m.candidate);
    decode(b.blob(), m.outcome);
    r.front.add(m.candidate, m.outcome);
  }
  return r;
}

}  // namespace culmen
