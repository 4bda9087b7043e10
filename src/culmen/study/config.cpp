#include "culmen/study/config.hpp"

#include <fmt/format.h>
#include <sched.h>

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
  w.f64(r.wall_s);
  w.u32(r.workers);
  w.text(r.store);
  w.text(r.first_failure);
  Bytes part;
  encode(r.best, part);
  w.blob(part);
  part.clear();
  encode(r.best_outcome, part);
  w.blob(part);
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
  r.wall_s = b.f64();
  r.workers = b.u32();
  r.store = b.text();
  r.first_failure = b.text();
  decode(b.blob(), r.best);
  decode(b.blob(), r.best_outcome);
  return r;
}

std::string fingerprint_of(const StudyConfig& c) {
  std::string text;
  for (const auto& p : c.space.parameters()) {
    text += fmt::format("{:?} {} {} {} {}\n", p.name, p.kind == ParameterKind::integer ? "integer" : "real",
                        p.scale == Scale::log ? "log" : "linear", p.lower, p.upper);
  }
  text += fmt::format("{:?} {}\n", c.evaluator_identity,
                      c.evaluator.result == ResultKind::residuals ? "residuals" : "value");
  text += fmt::format("{:?} {}\n", c.optimizer, c.seed);
  for (const auto& [name, value] : c.optimizer_options) text += fmt::format("{:?} {}\n", name, value);
  std::uint64_t h = 0xcbf29ce484222325ULL;
  for (const unsigned char byte : text) h = (h ^ byte) * 0x100000001b3ULL;
  return fmt::format("{:016x}", h);
}

std::string version() { return CULMEN_VERSION; }
std::string build_description() {
  return fmt::format("culmen {} (C++ {}, compiler {})", CULMEN_VERSION, __cplusplus / 100 % 100, __VERSION__);
}

std::size_t usable_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<std::size_t>(CPU_COUNT(&set));
}

}  // namespace culmen
