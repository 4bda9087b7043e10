// From CallRecord to the bytes of its row and back. Little-endian, versioned by its first byte.
#pragma once
#include <optional>

#include "culmen/base/bytes.hpp"
#include "culmen/store/records.hpp"

namespace culmen {

/// Layout: u8 version (1) | body | the note, to the end. Body, by kind: ask: u64 first id | u64 n | u64 dimension | n x
/// dimension f64; tell, cancel: u64 runs | runs x (u64 first id, u64 length); else nothing. Throws InputError unless an
/// ask's candidates have consecutive ids and the same dimension.
void encode(const CallRecord& call, Bytes& out);
/// `out.kind` must be set. Throws Error on bytes that are not such a call.
void decode(BytesView in, CallRecord& out);
/// One candidate of an ask, without decoding the others; none: the ask does not hold it. Throws Error as decode().
std::optional<Candidate> decode_candidate(BytesView in, EvaluationId id);

}  // namespace culmen
