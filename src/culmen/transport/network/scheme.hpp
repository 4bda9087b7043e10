// The ways to reach workers over a network. An address begins with the word of one of them.
#pragma once
#include <memory>
#include <span>
#include <string_view>

#include "culmen/transport/network/opening.hpp"

namespace culmen {

class ByteStream;
class JoinedEndpoint;
class OpenTransport;
struct JoinOptions;
struct ListenOptions;
struct StreamRequest;

struct Scheme {
  std::string_view word;
  bool encrypted;     ///< the master has a certificate
  bool is_suggested;  ///< in messages; the others serve as the baseline of benchmarks
  Opening opening;    ///< how a worker begins
  std::unique_ptr<OpenTransport> (*listen)(ListenOptions);
  std::unique_ptr<JoinedEndpoint> (*join)(JoinOptions);
  std::unique_ptr<ByteStream> (*stream)(StreamRequest);
};

/// All of them, in the order in which messages list them.
std::span<const Scheme> schemes() noexcept;
/// Null if there is none with this word.
const Scheme* find_scheme(std::string_view word) noexcept;
/// The same for an address that was parsed. Throws InputError that lists the words.
const Scheme& scheme_named(std::string_view word);

}  // namespace culmen
