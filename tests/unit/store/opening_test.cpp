#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "culmen/base/file_system.hpp"
#include "private_mount.hpp"
#include "store_test.hpp"

namespace culmen {
namespace {
using testing::AllOf;
using testing::HasSubstr;

using OpeningTest = StoreTest;

std::string nfs(const std::string&) { return "NFS"; }

std::string refusal_to_read(const std::string& path) {
  return error_of_kind<InputError>([&] { Journal::read(path); });
}
std::string refusal_to_resume(const std::string& path) {
  return error_of_kind<InputError>([&] { Journal::resume(path, Durability::process); });
}
std::string refusal_to_make(const std::string& path) {
  return error_of_kind<InputError>([&] { make(path); });
}

TEST_F(OpeningTest, a_missing_file_is_named) {
  EXPECT_EQ(refusal_to_resume(path), path + ": there is no such file");
  EXPECT_EQ(refusal_to_read(path), path + ": there is no such file");
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(OpeningTest, a_folder_that_takes_no_file_is_named_with_the_true_reason) {
  const auto absent = folder.file("absent");
  EXPECT_EQ(refusal_to_make(absent + "/study.db"), absent + "/study.db: there is no folder " + absent);
  const auto file = folder.file("file");
  std::ofstream(file) << "text";
  EXPECT_EQ(refusal_to_make(file + "/study.db"), file + "/study.db: " + file + " is not a folder");
  EXPECT_EQ(refusal_to_read(file + "/study.db"), file + "/study.db: there is no such file");
  EXPECT_EQ(refusal_to_make("/proc/study.db"), "/proc/study.db: no file can be created in the folder /proc");
  EXPECT_THAT(refusal_to_make("/sys/study.db"), HasSubstr("cannot be created in the folder /sys: "));
  const auto long_name = folder.file(std::string(300, 'x'));
  EXPECT_THAT(refusal_to_make(long_name), HasSubstr("File name too long"));
}

/// The error that `f` throws for a user without rights.
std::string refusal_to_nobody(const std::function<void()>& f) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  ForkedChild child([&](int) {
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(1);
    const auto sentence = error_of_kind<InputError>(f);
    if (write(ends[1], sentence.data(), sentence.size()) < 0) _exit(1);
  });
  ::close(ends[1]);
  std::string out(4096, 0);
  out.resize(static_cast<std::size_t>(std::max<ssize_t>(0, read(ends[0], out.data(), out.size()))));
  ::close(ends[0]);
  return out;
}

TEST_F(OpeningTest, what_may_not_be_read_or_written_is_said_to_be) {
  if (getuid() != 0) GTEST_SKIP() << "needs root, to be somebody else";
  namespace fs = std::filesystem;
  make(path).close();
  const auto read = [&] { Journal::read(path); };
  const auto resume = [&] { Journal::resume(path, Durability::process); };
  EXPECT_EQ(refusal_to_nobody(read), path + ": cannot be opened: Permission denied");
  fs::permissions(folder.path(), fs::perms(0755));
  fs::permissions(path, fs::perms(0600));
  EXPECT_EQ(refusal_to_nobody(read), path + ": cannot be read: Permission denied");
  fs::permissions(path, fs::perms(0644));
  EXPECT_EQ(refusal_to_nobody(resume), path + ": cannot be written: Permission denied");
  fs::permissions(path, fs::perms(0666));
  EXPECT_THAT(refusal_to_nobody(resume), AllOf(HasSubstr("its folder " + folder.path() +
                                                         ", where a running study keeps its log, cannot be written"),
                                               HasSubstr("Permission denied")));
  EXPECT_EQ(refusal_to_nobody([&] { make(folder.file("new.db")); }),
            folder.file("new.db") + ": cannot be created in the folder " + folder.path() + ": Permission denied");
}

TEST_F(OpeningTest, anything_else_is_no_study) {
  EXPECT_THAT(refusal_to_read(folder.path()), HasSubstr("is a folder"));
  EXPECT_THAT(refusal_to_read("/dev/null"), HasSubstr("is not a regular file"));
  std::ofstream(folder.file("text")) << std::string(5000, 'x');
  std::ofstream(folder.file("empty"));
  sql(folder.file("other.db"), "CREATE TABLE t(x)");
  for (const char* name : {"text", "empty", "other.db"}) {
    EXPECT_EQ(refusal_to_resume(folder.file(name)), folder.file(name) + ": is not a culmen study");
    EXPECT_EQ(refusal_to_read(folder.file(name)), folder.file(name) + ": is not a culmen study");
  }
}

TEST_F(OpeningTest, an_existing_file_is_not_overwritten) {
  make(path).close();
  EXPECT_THAT(error_of([&] { make(path); }), AllOf(HasSubstr(path), HasSubstr("exists already")));
  std::ofstream(folder.file("text")) << "precious";
  EXPECT_THAT(error_of([&] { make(folder.file("text")); }), HasSubstr("exists already"));
  std::string kept;
  std::ifstream(folder.file("text")) >> kept;
  EXPECT_EQ(kept, "precious");
}

TEST_F(OpeningTest, another_format_is_named) {
  make(path).close();
  for (const auto& [version, age] : {std::pair{1, "an older"}, std::pair{4, "a newer"}}) {
    const auto number = std::to_string(version);
    sql(path, "PRAGMA user_version = " + number);
    const auto sentence =
        path + ": was written by " + age + " culmen (format " + number + ", but this one reads format 3)";
    EXPECT_EQ(error_of_kind<StoreError>([&] { Journal::read(path); }), sentence);
    EXPECT_EQ(error_of_kind<StoreError>([&] { Journal::resume(path, Durability::process); }), sentence);
  }
}

TEST_F(OpeningTest, a_network_file_system_is_refused_with_a_local_path) {
  const auto sentence = AllOf(HasSubstr(path), HasSubstr("NFS"), HasSubstr(local_folder() + "/study.db"));
  EXPECT_THAT(error_of_kind<InputError>([&] { Journal::create(path, some_study(), Durability::process, nfs); }),
              sentence);
  EXPECT_FALSE(std::filesystem::exists(path));
  auto journal = make(path);
  EXPECT_THAT(error_of([&] { Journal::resume(path, Durability::process, "", "", nfs); }), sentence);
  journal.append(ask(0, 1));
  journal.commit();
  EXPECT_THAT(error_of([&] { Journal::read(path, nfs); }), sentence) << "its log is not empty";
  journal.close();
  journal = make(folder.file("other.db"));
  EXPECT_EQ(Journal::read(path, nfs).summary().asked, 1U);
}

TEST_F(OpeningTest, network_file_systems_are_known_by_number_and_fuse_type) {
  EXPECT_EQ(network_name(0x6969), "NFS");
  EXPECT_EQ(network_name(static_cast<unsigned long>(static_cast<int>(0xFF534D42))), "CIFS")
      << "sign-extended, as some kernels give it";
  EXPECT_EQ(network_name(0x0BD00BD0), "Lustre");
  EXPECT_EQ(network_name(0xEF53), "") << "ext4";
  EXPECT_EQ(network_name(0x01021994), "") << "tmpfs";
  EXPECT_EQ(network_fuse_name("fuse.sshfs"), "sshfs");
  EXPECT_EQ(network_fuse_name("fuse.fuse-overlayfs"), "");
  EXPECT_EQ(network_file_system("/proc/self/no such file"), "");
}

TEST_F(OpeningTest, a_read_only_folder_can_be_read) {
  make(path).close();
  {
    // Dropped without close: its log stays behind, as after a kill.
    ForkedChild child([&](int) {
      auto journal = make(folder.file("killed.db"));
      journal.append(ask(0, 3));
      journal.commit();
      kill(getpid(), SIGKILL);
    });
    std::uint64_t none;
    child.receive(none);
  }
  ASSERT_TRUE(std::filesystem::exists(folder.file("killed.db-wal")));
  PrivateMount mount(folder.path(), folder.path(), "", MS_BIND);
  if (!mount.ok() || !mount.make_read_only()) GTEST_SKIP() << "mounting is not permitted here";
  ASSERT_NE(access(folder.path().c_str(), W_OK), 0);
  EXPECT_EQ(Journal::read(path).epoch(), 1U);
  EXPECT_EQ(Journal::read(folder.file("killed.db")).summary().asked, 3U);
  EXPECT_EQ(refusal_to_resume(path), path + ": cannot be written: Read-only file system");
  const auto fresh = folder.file("new.db");
  EXPECT_EQ(refusal_to_make(fresh),
            fresh + ": cannot be created in the folder " + folder.path() + ": Read-only file system");
}

}  // namespace
}  // namespace culmen
