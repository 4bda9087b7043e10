// What the conformance kit does not see of the network: addresses, refusals, lost connections, hostile bytes.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include "culmen/transport/network/address.hpp"
#include "culmen/transport/network/certificate.hpp"
#include "culmen/transport/network/scheme.hpp"
#include "cut_line.hpp"
#include "network_fixture.hpp"

namespace culmen {
namespace {
using ::testing::HasSubstr;

TEST(Address, is_read_and_written) {
  for (const auto* text : {"tcp://127.0.0.1:7443", "ws://node7.cluster:80", "tcp://[::1]:0", "ws://0.0.0.0:65535"})
    EXPECT_EQ(to_string(parse_address(text)), text);
}

TEST(Address, a_wrong_one_is_answered_with_what_is_allowed) {
  for (const auto& [text, why] : std::initializer_list<std::pair<const char*, const char*>>{
           {"7443", "it has no '://'"},
           {"http://a:1", "'http' is not a way to reach workers"},
           {"tcp://host", "it has no port"},
           {"tcp://[::1]", "it has no port"},
           {"tcp://host:65536", "its port '65536' is not a number from 0 to 65535"},
           {"tcp://host:", "its port '' is not a number"},
           {"ws://host:80/path", "its port '80/path' is not a number"},
           {"tcp://:80", "it has no host"}})
    EXPECT_THAT(complaint_of([text = text] { parse_address(text); }), HasSubstr(why)) << text;
}

TEST(Wire, frames_of_wrong_lengths_are_refused) {
  Bytes bytes;
  append_frame(bytes, frame_of(1), Bytes(100));
  EXPECT_EQ(whole_frames(bytes, 100).bytes, bytes.size());
  EXPECT_THAT(complaint_of([&] { whole_frames(bytes, 99); }), HasSubstr("is longer than"));
  bytes[0] = std::byte{31};
  bytes[1] = bytes[2] = bytes[3] = std::byte{0};
  EXPECT_THAT(complaint_of([&] { whole_frames(bytes, 100); }),
              HasSubstr("a frame of 31 bytes, which is shorter than its head"));
}

TEST(Wire, whole_frames_come_before_one_that_is_too_long) {
  Bytes bytes;
  append_frame(bytes, frame_of(1), Bytes(10));
  const auto first = bytes.size();
  append_frame(bytes, frame_of(2), Bytes(100));
  EXPECT_EQ(whole_frames(bytes, 50).bytes, first);
  EXPECT_THAT(complaint_of([&] { whole_frames(BytesView(bytes).subspan(first), 50); }), HasSubstr("is longer than"));
}

TEST(Schemes, each_has_a_word_of_its_own_and_makes_its_transport) {
  std::set<std::string_view> words;
  for (const auto& scheme : schemes()) {
    EXPECT_TRUE(words.insert(scheme.word).second) << scheme.word;
    EXPECT_EQ(find_scheme(scheme.word), &scheme);
    const auto owner = make_open_transport(listen_at(std::string(scheme.word)));
    EXPECT_EQ(owner->address().scheme, scheme.word);
    EXPECT_NE(owner->address().port, 0);
    EXPECT_EQ(owner->fingerprint().empty(), !scheme.encrypted) << scheme.word;
  }
}

TEST(Addresses, of_the_loopback_device_are_told_from_names_that_look_like_them) {
  const auto loopback = [](const char* text) { return is_loopback(parse_address(text)); };
  for (const auto* text : {"ws://127.0.0.1:1", "ws://127.8.8.8:1", "ws://[::1]:1", "ws://localhost:1"})
    EXPECT_TRUE(loopback(text)) << text;
  for (const auto* text : {"ws://127.example.org:1", "ws://0.0.0.0:1", "ws://[::]:1", "ws://10.0.0.1:1"})
    EXPECT_FALSE(loopback(text)) << text;
}

TEST(Addresses, that_stand_for_all_of_a_machine_are_reached_by_its_name) {
  EXPECT_NE(reachable(parse_address("wss://0.0.0.0:7443")).host, "0.0.0.0");
  EXPECT_NE(reachable(parse_address("wss://[::]:7443")).host, "::");
  EXPECT_EQ(reachable(parse_address("wss://10.0.0.1:7443")).host, "10.0.0.1");
}

TEST(Schemes, an_unknown_one_is_answered_with_the_list) {
  EXPECT_EQ(find_scheme("udp"), nullptr);
  EXPECT_EQ(complaint_of([] { make_open_transport(listen_at("udp")); }),
            "'udp' is not a way to reach workers; there are wss, ws, tcp, tcp-per-item");
  EXPECT_EQ(complaint_of([] { parse_address("udp://127.0.0.1:1"); }),
            "'udp://127.0.0.1:1' is not an address: 'udp' is not a way to reach workers; write wss://HOST:PORT, "
            "ws://HOST:PORT or tcp://HOST:PORT");
}

class Network : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Schemes, Network, testing::Values("tcp", "ws", "wss"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(Network, a_worker_with_another_token_or_other_work_is_refused_with_the_reason) {
  const auto owner = make_open_transport(listen_at(GetParam()));
  auto& transport = *owner;
  auto wrong = joining(transport);
  wrong.token = "secreT";
  EXPECT_THAT(complaint_of([&] { join_master(wrong); }), HasSubstr("its token is not the one"));
  wrong = joining(transport);
  wrong.work = 8;
  EXPECT_THAT(complaint_of([&] { join_master(wrong); }), HasSubstr("it was started with another study"));
  EXPECT_EQ(transport.connected(), 0u);
}

TEST(Certificate, one_with_another_fingerprint_is_refused) {
  const auto owner = make_open_transport(listen_at("wss"));
  auto& transport = *owner;
  auto options = joining(transport);
  options.fingerprint = fingerprint_of(make_certificate().chain);
  EXPECT_THAT(complaint_of([&] { join_master(options); }),
              HasSubstr(fmt::format("the master's certificate has the fingerprint {}, not {}", transport.fingerprint(),
                                    options.fingerprint)));
  EXPECT_EQ(transport.connected(), 0u);
}

TEST(Certificate, one_that_no_authority_signed_is_refused_without_a_fingerprint) {
  const auto owner = make_open_transport(listen_at("wss"));
  auto& transport = *owner;
  auto options = joining(transport);
  options.fingerprint.clear();
  EXPECT_THAT(complaint_of([&] { join_master(options); }), HasSubstr("give the fingerprint that the run prints"));
}

TEST(Certificate, a_file_keeps_it) {
  std::string pattern = (std::filesystem::temp_directory_path() / "culmen-XXXXXX").string();
  const std::filesystem::path folder = mkdtemp(pattern.data());
  const auto path = (folder / "certificate.pem").string();
  const auto made = certificate_in(path);
  EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms(0600));
  EXPECT_EQ(fingerprint_of(certificate_in(path).chain), fingerprint_of(made.chain));
  std::ofstream(path) << "no certificate";
  EXPECT_THAT(complaint_of([&] { certificate_in(path); }), HasSubstr("is not a certificate with its private key"));
  std::filesystem::remove_all(folder);
}

TEST_P(Network, a_port_in_use_is_an_input_error) {
  const auto owner = make_open_transport(listen_at(GetParam()));
  auto& transport = *owner;
  auto options = listen_at(GetParam());
  options.address = transport.address();
  EXPECT_THAT(complaint_of([&] { make_open_transport(options); }), HasSubstr("Address already in use"));
}

TEST_P(Network, a_master_that_is_not_there_is_named) {
  JoinOptions options;
  {
    const auto owner = make_open_transport(listen_at(GetParam()));
    auto& transport = *owner;
    options = joining(transport);
  }
  options.patience_s = 0;
  EXPECT_THAT(complaint_of([&] { join_master(options); }), HasSubstr(to_string(options.address)));
}

TEST_P(Network, hostile_bytes_neither_join_nor_hold_the_master) {
  const auto owner = make_open_transport(listen_at(GetParam()));
  auto& transport = *owner;
  std::vector<int> open;
  for (const std::string bytes : {"GET / HTTP/1.1\r\n\r\n", "\xff\xff\xff\xff", "", "\x20\0\0\0"}) {
    open.push_back(connect_to(transport.address().port));
    EXPECT_EQ(send(open.back(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  const auto endpoint = join_master(joining(transport));
  Heard heard;
  receive_until(transport, heard, [&] { return !heard.came.empty(); });
  EXPECT_EQ(transport.connected(), 1u);
  for (const int fd : open) close(fd);
}

TEST_P(Network, a_silent_handshake_is_cut) {
  auto options = listen_at(GetParam());
  options.handshake_s = 0.05;
  const auto owner = make_open_transport(options);
  auto& transport = *owner;
  const int fd = connect_to(transport.address().port);
  char byte = 0;
  while (recv(fd, &byte, 1, 0) > 0) {
  }
  close(fd);
}

TEST_P(Network, a_worker_that_was_cut_off_returns_with_its_result) {
  const auto owner = make_open_transport(listen_at(GetParam()));
  auto& transport = *owner;
  CutLine line(transport.address().port);
  const auto endpoint = join_master(joining(transport, line));
  std::thread beside([&] { endpoint->wait_closed(); });  // as a worker has it
  Heard heard;
  receive_until(transport, heard, [&] { return heard.came.size() == 1; });
  transport.send(0, frame_of(1), {});
  FrameHead head;
  Bytes body;
  ASSERT_TRUE(endpoint->receive(head, body));
  line.cut();  // during the evaluation
  receive_until(transport, heard, [&] { return heard.left.size() == 1; });
  ASSERT_TRUE(endpoint->send(frame_of(1, FrameKind::result), {}));
  receive_until(transport, heard, [&] { return !heard.frames.empty(); });
  EXPECT_EQ(heard.came, (std::vector<WorkerId>{0, 1}));
  transport.send(1, frame_of(2), {});
  ASSERT_TRUE(endpoint->receive(head, body));
  EXPECT_EQ(head.evaluation, 2u);
  line.cut();  // its last result may have been lost with the connection: it comes again
  receive_until(transport, heard, [&] { return heard.came.size() == 3 && heard.frames.size() >= 2; });
  for (const auto& [worker, evaluation] : heard.frames) EXPECT_EQ(evaluation, 1u);
  endpoint->release();
  beside.join();
}

TEST_P(Network, the_end_of_the_study_ends_the_worker_without_trouble) {
  auto transport = make_open_transport(listen_at(GetParam()));
  const auto endpoint = join_master(joining(*transport));
  std::thread master([&] { transport->close(hangs_s); });
  FrameHead head;
  Bytes body;
  EXPECT_FALSE(endpoint->receive(head, body));
  EXPECT_TRUE(endpoint->closed());
  EXPECT_EQ(endpoint->trouble(), "");
  master.join();
}

/// The threads of this process with that name that have used the CPU.
std::size_t busy_threads(const std::string& name) {
  std::size_t busy = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "stat");
    std::string line;
    std::getline(file, line);
    const auto end_of_name = line.rfind(')');
    if (end_of_name == line.npos || line.find("(" + name + ")") == line.npos) continue;
    std::istringstream rest(line.substr(end_of_name + 2));
    const std::vector<std::string> words{std::istream_iterator<std::string>(rest), {}};
    constexpr std::size_t user = 11, system = 12;  // see proc(5); in ticks of 10 ms
    busy += std::stoul(words.at(user)) + std::stoul(words.at(system)) > 0;
  }
  return busy;
}

TEST(NetworkTransport, uses_all_of_its_threads) {
  constexpr std::size_t io_threads = 3, workers = 6;
  ListenOptions options;
  options.address = {"wss", "127.0.0.1", 0};
  options.token = "t";
  options.io_threads = io_threads;
  const auto owner = make_open_transport(options);
  auto& transport = *owner;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < workers; ++i)
    threads.emplace_back([&] {
      const auto endpoint =
          join_master({.address = transport.address(), .fingerprint = transport.fingerprint(), .token = "t"});
      const Bytes body(std::size_t{1} << 18);
      while (endpoint->send(frame_of(1, FrameKind::result), body)) {
      }
    });
  Heard heard;
  receive_until(transport, heard, [&] { return busy_threads(io_thread_name) == io_threads; });
  transport.close(10);
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace culmen
