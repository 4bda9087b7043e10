// Properties of the network that the conformance kit does not check: addresses, refusals, lost connections, hostile
// bytes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <span>
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
  auto options = listen_at(GetParam());
  options.work.parts = {{"the parameters", 1}, {"the evaluator", 2}, {"the data files", 4}};
  const auto owner = make_open_transport(options);
  auto& transport = *owner;
  auto wrong = joining(transport);
  wrong.token = "secreT";
  EXPECT_THAT(complaint_of([&] { join_master(wrong); }), HasSubstr("its token is not the one"));
  wrong = joining(transport);
  wrong.work = 8;
  EXPECT_THAT(complaint_of([&] { join_master(wrong); }), HasSubstr("it was started with another study"));
  EXPECT_EQ(transport.connected(), 0u);
  wrong.work.parts = {{"the parameters", 1}, {"the evaluator", 3}, {"the data files", 5}};
  EXPECT_THAT(complaint_of([&] { join_master(wrong); }),
              HasSubstr("it was started with another study: there is a difference in the evaluator, the data files; "));
  EXPECT_EQ(options.refusals->known().count, 3u);
  EXPECT_THAT(options.refusals->known().last, HasSubstr("it was started with another study"));
}

/// The limit of open files leaves the process room for four connections.
void join_until_there_are_no_more_files(const char* scheme) {
  const auto options = listen_at(scheme);
  const auto transport = make_open_transport(options);
  const rlimit few{260, 260};
  if (setrlimit(RLIMIT_NOFILE, &few) != 0) _exit(1);
  std::vector<std::unique_ptr<JoinedEndpoint>> there;
  for (int i = 0; i < 4; ++i) there.push_back(join_master(joining(*transport)));
  auto last = joining(*transport);
  last.patience_s = 0.1;
  const auto why = complaint_of([&] { join_master(last); });
  const auto refused = options.refusals->known();
  const bool says = refused.count > 0 && refused.last.find("the system allows 260 (ulimit -Hn)") != std::string::npos;
  if (!says) fmt::print(stderr, "{} '{}'; the worker: {}\n", refused.count, refused.last, why);
  _exit(says && why != "no error" ? 0 : 1);
}

TEST_P(Network, a_worker_for_which_there_are_no_more_files_is_refused_with_the_reason) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(join_until_there_are_no_more_files(GetParam()), testing::ExitedWithCode(0), "");
}

TEST(Certificate, several_processes_that_make_it_at_once_have_the_same) {
  std::string pattern = (std::filesystem::temp_directory_path() / "culmen-XXXXXX").string();
  const std::filesystem::path folder = mkdtemp(pattern.data());
  std::vector<std::string> found(8);
  std::vector<std::thread> threads;
  for (auto& each : found)
    threads.emplace_back([&] { each = fingerprint_of(certificate_in((folder / "certificate.pem").string()).chain); });
  for (auto& thread : threads) thread.join();
  for (const auto& each : found) EXPECT_EQ(each, found.front());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1) << "nothing else is left there";
  std::filesystem::remove_all(folder);
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

/// The threads of this process with that name that run, or would run if a CPU were free.
std::size_t running_threads(const std::string& name) {
  std::size_t running = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "stat");
    std::string line;
    std::getline(file, line);
    const auto end_of_name = line.rfind(')');
    if (end_of_name == line.npos || line.find("(" + name + ")") == line.npos) continue;
    running += line.compare(end_of_name, 3, ") R") == 0;
  }
  return running;
}

/// Each request for the status keeps the thread that answers it, until as many are answered at the same time.
TEST(NetworkTransport, works_on_as_many_connections_at_a_time_as_it_has_threads) {
  constexpr std::ptrdiff_t io_threads = 4;
  std::mutex mutex;
  std::condition_variable changed;
  std::ptrdiff_t inside = 0, most = 0;
  auto options = listen_at("ws");
  options.token = "";
  options.io_threads = io_threads;
  options.status = [&] {
    std::unique_lock lock(mutex);
    most = std::max(most, ++inside);
    changed.notify_all();
    changed.wait_for(lock, std::chrono::duration<double>(hangs_s / 10), [&] { return most == io_threads; });
    --inside;
    return std::string("{}");
  };
  const auto transport = make_open_transport(options);
  std::vector<std::thread> browsers;
  for (std::ptrdiff_t i = 0; i < io_threads; ++i)
    browsers.emplace_back([&] {
      BlockingSocket socket;
      socket.connect(transport->address());
      const std::string request = "GET /status HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
      socket.write(std::as_bytes(std::span(request)));
      EXPECT_THAT(text_in(socket.read_all()), HasSubstr("{}"));
    });
  for (auto& browser : browsers) browser.join();
  EXPECT_EQ(most, io_threads);
}

/// It may not keep more than it can hand on, so the rest waits in the sockets.
TEST(NetworkTransport, does_not_read_what_nobody_takes) {
  const auto owner = make_open_transport(listen_at("tcp"));
  auto& transport = *owner;
  const auto endpoint = join_master(joining(transport));
  Heard heard;
  receive_until(transport, heard, [&] { return heard.came.size() == 1; });
  std::atomic<std::size_t> sent = 0;
  std::thread worker([&] {
    const Bytes body(std::size_t{1} << 20);
    while (endpoint->send(frame_of(1, FrameKind::result), body)) ++sent;
  });
  const auto unread = [&] {
    std::size_t most = 0;
    for (const int fd : connections_at(transport.address().port)) {
      int bytes = 0;
      if (ioctl(fd, FIONREAD, &bytes) == 0) most = std::max(most, static_cast<std::size_t>(bytes));
    }
    return most;
  };
  // Bytes are there, nobody reads them, and nothing changes from one look to the next.
  std::size_t before = 0, unchanged = 0;
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(hangs_s);
  while (unchanged < 1000) {
    ASSERT_LT(std::chrono::steady_clock::now(), until) << sent << " MiB were sent";
    const auto now = unread();
    const bool sleeps = running_threads(io_thread_name) == 0;
    unchanged = sleeps && now > 0 && now == before ? unchanged + 1 : 0;
    before = now;
  }
  EXPECT_LT(sent, 64U);
  transport.close(0);
  endpoint->leave();
  worker.join();
}

class WordsOfTheWorker : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Schemes, WordsOfTheWorker, testing::Values("tcp", "ws", "wss"));

/// A worker of culmen says nothing with it; another program may.
TEST_P(WordsOfTheWorker, with_its_farewell_are_not_taken_for_frames) {
  for (const std::size_t bytes : {1U, 8U, 40U, 1000U}) {
    const auto transport = make_open_transport(listen_at(GetParam()));
    const auto endpoint = join_master(joining(*transport));
    Heard heard;
    receive_until(*transport, heard, [&] { return heard.came.size() == 1; });
    ASSERT_TRUE(endpoint->send(frame_of(1, FrameKind::result), {}));
    ASSERT_TRUE(endpoint->send(head_of(bye), Bytes(bytes, std::byte{0xff})));
    receive_until(*transport, heard, [&] { return !heard.left.empty(); });
    EXPECT_EQ(heard.frames, (std::vector<std::pair<WorkerId, EvaluationId>>{{0, 1}}));
  }
}

}  // namespace
}  // namespace culmen
