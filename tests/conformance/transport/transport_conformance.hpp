// The promises of every transport, as checks. A transport passes when each check returns an empty string.
#pragma once
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "culmen/transport/transport.hpp"

namespace culmen::conformance {

/// A transport and its workers, each of which runs play_worker(). Destroyed after close() or without it.
class Cast {
 public:
  virtual ~Cast() = default;
  virtual Transport& transport() = 0;
  /// Whether the workers are processes of their own, which may be killed.
  virtual bool has_processes() const = 0;
};

/// Starts this number of workers.
using CastFactory = std::function<std::unique_ptr<Cast>(std::size_t workers)>;

/// The reaction of a worker to a frame; travels in FrameHead::study.
enum class Play : std::uint64_t {
  echo,      ///< sends the frame back
  answer,    ///< body: u64 n; sends a body of n bytes, body_of(evaluation, n)
  digest,    ///< sends the body's length and sum, two u64
  flood,     ///< body: u64 n, u64 most; sends n frames numbered 0, 1, …, each a body of size_of(number, most)
  die,       ///< as flood, then kills its own process
  die_amid,  ///< body: u64 most, u64 n; floods, and kills its own process about n microseconds later
  leave,     ///< ends its endpoint
};

/// The worker's side of the kit: plays until the master closes or says `leave`.
void play_worker(Endpoint& endpoint);

struct Limits {
  double deadline_s = 100;             ///< after it a check fails and says what it saw; it never makes one pass
  std::size_t ring_bytes = 32 * 1024;  ///< where the transport's fragments begin
};

struct Check {
  std::string name;
  bool needs_processes;
  bool is_large;  ///< takes seconds
  /// Empty, or one sentence: what was expected and what was seen.
  std::function<std::string(const CastFactory&, const Limits&)> run;
};

inline std::ostream& operator<<(std::ostream& out, const Check& check) { return out << check.name; }

const std::vector<Check>& checks();

/// Requests and their echoes, two workers with `in_flight` each, both sides asleep in between. No sleep has a time-out.
std::string hand_off(const CastFactory& start, const Limits& limits, std::uint64_t times, std::size_t in_flight);

}  // namespace culmen::conformance
