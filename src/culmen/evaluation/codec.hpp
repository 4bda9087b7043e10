// Candidate, outcome, recommendation <-> bytes: one encoding for engine, workers and store. Little-endian, versioned by
// its first byte.
#pragma once
#include "culmen/base/bytes.hpp"
#include "culmen/evaluation/outcome.hpp"
#include "culmen/evaluation/recommendation.hpp"
#include "culmen/space/candidate.hpp"

namespace culmen {

/// Layout of a candidate: u8 version (2) | u64 id | u64 n, n f64 | u64 n, n bytes payload. Version 1 had no payload.
void encode(const Candidate& candidate, Bytes& out);
/// Throws Error on bytes that are not a candidate of a known version.
void decode(BytesView in, Candidate& out);

/// Layout of an outcome:
///
///     u8 version (2) | u8 status | f64 duration_s | f64 value | u64 n, n f64 residuals
///     | u32 n, n x (text name, f64) extras | text message | u64 n, n f64 values | f64 violation
///     | u64 n, n bytes payload
///
/// Version 1 ended with the message; stores contain both versions.
void encode(const Outcome& outcome, Bytes& out);
/// The same. A large payload is moved, not copied.
void encode(Outcome&& outcome, Bytes& out);
void decode(BytesView in, Outcome& out);
/// The same without the payload: returns where it is in `in`.
BytesView decode_without_payload(BytesView in, Outcome& out);

/// Layout of a recommendation: u8 version (1) | u64 n, n f64 | f64 value | f64 error | u64 evaluations.
void encode(const Recommendation& recommendation, Bytes& out);
void decode(BytesView in, Recommendation& out);

/// A 64-bit hash of the doubles (FNV-1a over words, folded): results contain it, and a result with a wrong hash is
/// dropped.
std::uint64_t hash_of(const Candidate& candidate);

}  // namespace culmen
