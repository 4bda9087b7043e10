#include "culmen/study/run/other_machines.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "culmen/base/error.hpp"
#include "culmen/study/crew/cpus.hpp"
#include "culmen/study/crew/network_workers.hpp"
#include "culmen/transport/network/address.hpp"
#include "culmen/transport/network/scheme.hpp"

namespace culmen {
namespace {
constexpr std::size_t most_io_threads = 256, most_message_mib = 4095;
constexpr std::size_t longest_token = 1024;

[[noreturn]] void refuse_token(const std::string& file, const std::string& why) {
  throw InputError(fmt::format("token_file = \"{}\": {}", file, why));
}

/// Only its owner can read it.
void make_token(const std::string& file) {
  const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor < 0 && errno == EEXIST) return;
  if (descriptor < 0) refuse_token(file, fmt::format("it cannot be made: {}", std::strerror(errno)));
  std::random_device device;
  std::string token;
  for (int i = 0; i < 8; ++i) token += fmt::format("{:08x}", device());
  token += '\n';
  const bool written = write(descriptor, token.data(), token.size()) == std::ssize(token);
  close(descriptor);
  if (!written) refuse_token(file, "it cannot be written");
}

std::string token_in(const std::string& file) {
  if (file.empty()) return {};
  std::ifstream in(file);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) refuse_token(file, "it cannot be read");
  const auto is_space = [](char c) { return std::strchr(" \t\r\n", c) != nullptr; };
  while (!text.empty() && is_space(text.back())) text.pop_back();
  text.erase(text.begin(), std::ranges::find_if_not(text, is_space));
  if (text.empty() || text.size() > longest_token)
    refuse_token(file, fmt::format("a token has 1 to {} characters, this one has {}", longest_token, text.size()));
  return text;
}

/// FNV-1a of the file of this program. A program whose function differs has another one.
std::string digest_of_program() {
  std::ifstream in("/proc/self/exe", std::ios::binary);
  std::uint64_t h = 0xcbf29ce484222325ULL;
  std::array<char, 1 << 16> part{};
  while (in.read(part.data(), part.size()) || in.gcount() > 0) {
    for (std::streamsize i = 0; i < in.gcount(); ++i)
      h = (h ^ static_cast<unsigned char>(part[static_cast<std::size_t>(i)])) * 0x100000001b3ULL;
  }
  if (!in.eof()) throw InputError("this program's file cannot be read; give version, such as \"my fit 1\"");
  return fmt::format("{:016x}", h);
}

std::string content_of(const OtherMachines& machines) {
  return machines.version.empty() ? "program " + digest_of_program() : "version " + machines.version;
}

std::string pin_of(const std::string& fingerprint) {
  std::string pin;
  for (const char c : fingerprint) {
    if (c != ':') pin += c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  const bool is_hex = pin.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!pin.empty() && (pin.size() != 64 || !is_hex))
    throw InputError(
        fmt::format("fingerprint = \"{}\": a fingerprint has 64 hexadecimal digits (SHA-256)", fingerprint));
  return pin;
}
}  // namespace

void check(const OtherMachines& machines) {
  if (machines.listen.empty()) return;
  if (!machines.join.empty()) throw InputError("listen and join are given; a program does only one of the two");
  const auto address = parse_address(machines.listen);
  if (machines.io_threads < 1 || machines.io_threads > most_io_threads)
    throw InputError(fmt::format("io_threads = {}: it must be from 1 to {}", machines.io_threads, most_io_threads));
  if (machines.largest_message_mib < 1 || machines.largest_message_mib > most_message_mib)
    throw InputError(fmt::format("largest_message_mib = {}: it must be from 1 to {}", machines.largest_message_mib,
                                 most_message_mib));
  if (is_loopback(address)) return;
  if (!scheme_named(address.scheme).encrypted && !machines.insecure)
    throw InputError(fmt::format(
        "listen = \"{}\": others on the network could read and change what is sent; write wss://…, or set insecure",
        machines.listen));
  if (machines.token_file.empty())
    throw InputError(fmt::format("listen = \"{}\": anyone could join; give token_file", machines.listen));
}

Listening listening_of(const OtherMachines& machines) {
  if (machines.listen.empty()) return {};
  if (!machines.token_file.empty()) make_token(machines.token_file);
  return {machines.listen,      machines.certificate, token_in(machines.token_file),
          content_of(machines), machines.io_threads,  machines.largest_message_mib};
}

void announce(const OtherMachines& machines, const Run::Door& door) {
  if (door.address.empty()) return;
  const auto address = to_string(reachable(parse_address(door.address)));
  if (machines.listening) return machines.listening(address, door.fingerprint);
  const auto pin = door.fingerprint.empty() ? "" : fmt::format(", fingerprint = \"{}\"", door.fingerprint);
  fmt::print(stderr, "Workers join with: join = \"{}\"{}\n", address, pin);
}

std::uint64_t work_elsewhere(const StudyConfig& config, const OtherMachines& machines, std::size_t slots,
                             const Function& function) {
  NetworkWorkers workers(config,
                         {machines.join, pin_of(machines.fingerprint), token_in(machines.token_file),
                          content_of(machines), slots != 0 ? slots : usable_cpus(), machines.patience_s},
                         function);
  workers.run();
  return workers.evaluations();
}

}  // namespace culmen
