// How a connection begins. It tells a master with which scheme the other side came.
#pragma once
#include <string>

#include "culmen/base/bytes.hpp"

namespace culmen {

enum class Opening : unsigned char { unknown, tls, http, greeting, visit };

inline constexpr std::size_t opening_bytes = 64;  ///< this number is enough

/// `first`: the first bytes, perhaps few of them.
Opening opening_of(BytesView first);
/// A sentence for one who came with another scheme, in the words of his own. TLS has none for it: there he learns only
/// that nobody speaks TLS.
Bytes refusal_for(Opening opening, const std::string& sentence);
/// The same for one who was too slow, and may come again. Empty for TLS.
Bytes farewell_for(Opening opening, const std::string& sentence);

}  // namespace culmen
