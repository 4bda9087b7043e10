// Workers that join over a network while the study runs.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "culmen/study/crew/crew.hpp"

namespace culmen {

struct Stay;

/// Where a run waits for workers of other machines.
struct Listening {
  std::string address;      ///< as parse_address() takes it; empty: nowhere
  std::string certificate;  ///< wss: the file with it, which is made if it is missing
  std::string token;        ///< a secret that a worker must know
  std::string content;      ///< part of the digest of the work: the contents of the evaluator's files
  std::size_t io_threads = 1;
  std::size_t largest_message_mib = 1024;  ///< of a worker
  std::shared_ptr<Stay> stay = {};         ///< if given, the workers stay after the end of the run, for the next one
  explicit operator bool() const { return !address.empty(); }
};

/// A crew that workers of other machines can join. If `own` is not null, its workers work from the start. Throws
/// InputError if it cannot listen.
std::unique_ptr<Crew> make_network_crew(const Listening& listening, const CrewRequest& request,
                                        std::unique_ptr<Crew> own);

}  // namespace culmen
