// Which file systems are network file systems. SQLite's WAL needs memory shared between processes and reliable locks,
// which these do not offer (https://www.sqlite.org/wal.html, "Disadvantages").
#pragma once
#include <string>

namespace culmen {

/// Name of a network file system by its statfs magic (linux/magic.h, GNU coreutils' stat.c): "NFS", "Lustre", …; "" for
/// any other. FUSE is not decided here.
std::string network_name(unsigned long magic);
/// Name of a network file system by its FUSE type as in /proc/self/mountinfo ("fuse.sshfs" gives "sshfs"); "" for any
/// other, and for an unknown FUSE file system.
std::string network_fuse_name(const std::string& type);
/// Name of the network file system on which `path` (or its folder, if there is no such file) lies; "" if it is
/// local or unknown.
std::string network_file_system(const std::string& path);
/// A folder on a local file system in which this process may write: the first such of /var/tmp, /tmp and /dev/shm, else
/// /var/tmp.
std::string local_folder();

}  // namespace culmen
