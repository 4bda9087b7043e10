// C++ programs on several machines: one listens, another joins. Both are threads here, connected over the loopback.
#include "culmen/study/run/culmen.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <memory>

namespace culmen {
namespace {
using Point = std::vector<double>;

const Space space{real("x", -5, 5), real("y", -5, 5)};
double bowl(const Point& p) { return p[0] * p[0] + p[1] * p[1]; }

struct Way {
  std::string address, fingerprint;
};

class Machines : public testing::TestWithParam<const char*> {
 protected:
  Machines() { std::filesystem::create_directories(folder_); }
  ~Machines() override { std::filesystem::remove_all(folder_); }
  std::string token() const { return folder_ / "token"; }

  /// Starts the run, and returns when others may join it.
  template <class Start>
  Way start(Start run) {
    const auto opened = std::make_shared<std::promise<Way>>();
    auto way = opened->get_future();
    OtherMachines machines;
    machines.listen = std::string(GetParam()) + "://127.0.0.1:0";
    machines.token_file = token();
    machines.listening = [opened](const auto& address, const auto& fingerprint) {
      opened->set_value({address, fingerprint});
    };
    result_ = std::async(std::launch::async, [run, machines] { return run(machines); });
    while (way.wait_for(std::chrono::milliseconds(10)) != std::future_status::ready) {
      if (result_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) result_.get();  // throws why
    }
    return way.get();
  }
  OtherMachines joining(const Way& way) const {
    OtherMachines machines;
    machines.join = way.address;
    machines.fingerprint = way.fingerprint;
    machines.token_file = token();
    return machines;
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("culmen-machines-" + std::to_string(getpid()));
  std::future<MinimizeResult> result_;
};

TEST_P(Machines, a_program_that_joins_evaluates_for_the_run) {
  const auto way = start([](const OtherMachines& machines) {
    return minimize(bowl, space, {.evaluations = 300, .optimizer = "cmaes", .machines = machines});
  });
  const auto there = minimize(bowl, space, {.workers = 2, .machines = joining(way)});
  EXPECT_EQ(there.evaluations, 300U);
  EXPECT_FALSE(there.is_master);
  EXPECT_TRUE(there.x.empty());
  const auto found = result_.get();
  EXPECT_EQ(found.evaluations, 300U);
  EXPECT_TRUE(found.is_master);
  struct stat file {};
  ASSERT_EQ(stat(token().c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777U, 0600U);
}

TEST_P(Machines, those_that_joined_evaluate_for_the_errors_of_a_fit) {
  const auto line = [](const Point& p) { return Point{p[0] - 1, p[1] + p[0], p[1] - 0.5}; };
  const auto alone = least_squares(line, space, {.evaluations = 60});
  const auto way = start([line](const OtherMachines& machines) {
    return least_squares(line, space, {.evaluations = 60, .machines = machines});
  });
  const auto there = least_squares(line, space, {.workers = 2, .machines = joining(way)});
  const auto found = result_.get();
  EXPECT_EQ(found.errors_message, "");
  ASSERT_EQ(found.errors.size(), 2U);
  EXPECT_EQ(found.errors, alone.errors);
  EXPECT_GT(there.evaluations, found.evaluations);
}

TEST_P(Machines, a_worker_of_another_study_or_version_is_refused) {
  const auto way = start([](const OtherMachines& machines) {
    return minimize(bowl, space, {.evaluations = 50, .optimizer = "cmaes", .machines = machines});
  });
  const auto refused = [&](const Space& other, const OtherMachines& machines) {
    try {
      minimize(bowl, other, {.machines = machines});
      ADD_FAILURE() << "the worker joined";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("it was started with another study"), std::string::npos) << error.what();
    }
  };
  refused(Space{real("x", -5, 6), real("y", -5, 5)}, joining(way));
  auto other_version = joining(way);
  other_version.version = "bowl 2";
  refused(space, other_version);
  EXPECT_EQ(minimize(bowl, space, {.machines = joining(way)}).evaluations, 50U);
  result_.get();
}

INSTANTIATE_TEST_SUITE_P(schemes, Machines, testing::Values("tcp", "ws", "wss"),
                         [](const auto& scheme) { return std::string(scheme.param); });

std::string mistake(const OtherMachines& machines) {
  try {
    minimize(bowl, space, {.evaluations = 5, .machines = machines});
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(OtherMachinesMistakes, are_one_sentence) {
  EXPECT_EQ(mistake({.listen = "wss://0.0.0.0:0"}), "listen = \"wss://0.0.0.0:0\": anyone could join; give token_file");
  EXPECT_EQ(mistake({.listen = "tcp://0.0.0.0:0"}),
            "listen = \"tcp://0.0.0.0:0\": others on the network could read and change what is sent; write wss://…, or "
            "set insecure");
  EXPECT_EQ(mistake({.listen = "http://127.0.0.1:0"}).substr(0, 63),
            "'http://127.0.0.1:0' is not an address: 'http' is not a way to ");
  EXPECT_EQ(mistake({.listen = "tcp://127.0.0.1:0", .join = "tcp://127.0.0.1:1"}),
            "listen and join are given; a program does only one of the two");
  EXPECT_EQ(mistake({.listen = "tcp://127.0.0.1:0", .io_threads = 0}), "io_threads = 0: it must be from 1 to 256");
  EXPECT_EQ(mistake({.listen = "tcp://127.0.0.1:0", .largest_message_mib = 0}),
            "largest_message_mib = 0: it must be from 1 to 4095");
  EXPECT_EQ(mistake({.join = "tcp://127.0.0.1:1", .token_file = "/none/token"}),
            "token_file = \"/none/token\": it cannot be read");
  EXPECT_EQ(mistake({.join = "wss://127.0.0.1:1", .fingerprint = "12"}),
            "fingerprint = \"12\": a fingerprint has 64 hexadecimal digits (SHA-256)");
  EXPECT_NE(mistake({.join = "tcp://127.0.0.1:1", .patience_s = 0}), "none");
}

}  // namespace
}  // namespace culmen
