#include "culmen/base/file_system.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

namespace culmen {
namespace {

constexpr unsigned long fuse_magic = 0x65735546;

constexpr std::array<std::pair<unsigned long, std::string_view>, 19> magics{{
    {0x6969, "NFS"},
    {0x517B, "SMB"},
    {0xFE534D42, "SMB"},
    {0xFF534D42, "CIFS"},
    {0x0BD00BD0, "Lustre"},
    {0x47504653, "GPFS"},
    {0x19830326, "BeeGFS"},
    {0x00C36400, "Ceph"},
    {0x01021997, "9p"},
    {0x5346414F, "AFS"},
    {0x6B414653, "AFS"},
    {0x73757245, "Coda"},
    {0x20030528, "OrangeFS"},
    {0xAAD7AAEA, "PanFS"},
    {0xBEEFDEAD, "StorNext"},
    {0x013111A8, "IBRIX"},
    {0x564C, "NCP"},
    {0x786F4256, "VirtualBox shared folder"},
    {0xBACBACBC, "VMware shared folder"},
}};

constexpr std::array<std::string_view, 16> fuse_types{
    "sshfs",   "s3fs", "gcsfuse",   "goofys",   "glusterfs",  "rclone", "ceph-fuse", "ceph",
    "juicefs", "mfs",  "curlftpfs", "smbnetfs", "gvfsd-fuse", "davfs",  "dfuse",     "daos"};

/// The file-system type of a device, from /proc/self/mountinfo (proc(5)): the third field is major:minor, the type
/// follows " - ".
std::string mounted_type(dev_t device) {
  const auto wanted = fmt::format("{}:{}", major(device), minor(device));
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream head(line);
    std::string id, parent, number, type;
    head >> id >> parent >> number;
    const auto dash = line.find(" - ");
    if (number != wanted || dash == std::string::npos) continue;
    std::istringstream(line.substr(dash + 3)) >> type;
    return type;
  }
  return {};
}

}  // namespace

std::string network_name(unsigned long magic) {
  // f_type is signed on some architectures: the upper half is its sign.
  const auto found = std::ranges::find(magics, magic & 0xFFFFFFFFUL, &decltype(magics)::value_type::first);
  return found == magics.end() ? std::string() : std::string(found->second);
}

std::string network_fuse_name(const std::string& type) {
  const auto name = type.substr(type.find('.') + 1);
  return std::ranges::find(fuse_types, name) == fuse_types.end() ? std::string() : name;
}

std::string network_file_system(const std::string& path) {
  struct statfs system {};
  auto asked = path;
  if (statfs(asked.c_str(), &system) != 0) {
    asked = std::filesystem::absolute(path).parent_path();
    if (statfs(asked.c_str(), &system) != 0) return {};
  }
  const auto magic = static_cast<unsigned long>(system.f_type);
  if ((magic & 0xFFFFFFFFUL) != fuse_magic) return network_name(magic);
  struct stat file {};
  return stat(asked.c_str(), &file) == 0 ? network_fuse_name(mounted_type(file.st_dev)) : std::string();
}

std::string local_folder() {
  for (const char* folder : {"/var/tmp", "/tmp", "/dev/shm"})
    if (access(folder, W_OK) == 0 && network_file_system(folder).empty()) return folder;
  return "/var/tmp";
}

}  // namespace culmen
