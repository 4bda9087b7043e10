#include <sys/mount.h>
#include <unistd.h>

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

TEST_F(OpeningTest, AMissingFileIsNamed) {
  EXPECT_THAT(error_of([&] { Journal::resume(path, Durability::process); }),
              AllOf(HasSubstr(path), HasSubstr("no such file")));
  EXPECT_THAT(error_of([&] { Journal::read(path); }), AllOf(HasSubstr(path), HasSubstr("no such file")));
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_THAT(error_of([&] { make(folder.file("absent/study.db")); }),
              AllOf(HasSubstr("absent/study.db"), HasSubstr("No such file or directory")));
}

TEST_F(OpeningTest, AnythingElseIsNoStudy) {
  EXPECT_THAT(error_of([&] { Journal::read(folder.path()); }), HasSubstr("is a folder"));
  std::ofstream(folder.file("text")) << std::string(5000, 'x');
  std::ofstream(folder.file("empty"));
  sql(folder.file("other.db"), "CREATE TABLE t(x)");
  for (const char* name : {"text", "empty", "other.db"}) {
    EXPECT_THAT(error_of([&] { Journal::resume(folder.file(name), Durability::process); }),
                AllOf(HasSubstr(name), HasSubstr("is not a culmen study")));
    EXPECT_THAT(error_of([&] { Journal::read(folder.file(name)); }),
                AllOf(HasSubstr(name), HasSubstr("is not a culmen study")));
  }
}

TEST_F(OpeningTest, AnExistingFileIsNotOverwritten) {
  make(path).close();
  EXPECT_THAT(error_of([&] { make(path); }), AllOf(HasSubstr(path), HasSubstr("exists already")));
  std::ofstream(folder.file("text")) << "precious";
  EXPECT_THAT(error_of([&] { make(folder.file("text")); }), HasSubstr("exists already"));
  std::string kept;
  std::ifstream(folder.file("text")) >> kept;
  EXPECT_EQ(kept, "precious");
}

TEST_F(OpeningTest, ANewerFormatIsNamed) {
  make(path).close();
  sql(path, "PRAGMA user_version = 2");
  const auto sentence = AllOf(HasSubstr(path), HasSubstr("newer culmen (format 2; this one reads up to 1)"));
  EXPECT_THAT(error_of([&] { Journal::read(path); }), sentence);
  EXPECT_THAT(error_of([&] { Journal::resume(path, Durability::process); }), sentence);
}

TEST_F(OpeningTest, ANetworkFileSystemIsRefusedWithALocalPath) {
  const auto sentence = AllOf(HasSubstr(path), HasSubstr("NFS"), HasSubstr(local_folder() + "/study.db"));
  EXPECT_THAT(error_of([&] { Journal::create(path, some_study(), Durability::process, nfs); }), sentence);
  EXPECT_FALSE(std::filesystem::exists(path));
  auto journal = make(path);
  EXPECT_THAT(error_of([&] { Journal::resume(path, Durability::process, "", nfs); }), sentence);
  journal.append(ask(0, 1));
  journal.commit();
  EXPECT_THAT(error_of([&] { Journal::read(path, nfs); }), sentence) << "its log is not empty";
  journal.close();
  journal = make(folder.file("other.db"));
  EXPECT_EQ(Journal::read(path, nfs).summary().asked, 1U);
}

TEST_F(OpeningTest, NetworkFileSystemsAreKnownByNumberAndFuseType) {
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

TEST_F(OpeningTest, AReadOnlyFolderCanBeRead) {
  make(path).close();
  {
    // Dropped without close: its log stays behind, as after a kill.
    Child child([&](int) {
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
  EXPECT_THAT(error_of([&] { Journal::resume(path, Durability::process); }), HasSubstr("read-only"));
}

}  // namespace
}  // namespace culmen
