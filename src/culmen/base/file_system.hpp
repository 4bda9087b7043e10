// Which file systems are shared over a network. SQLite's WAL needs memory shared between processes and honest locks,
// which these do not give (https://www.sqlite.org/wal.html, "Disadvantages").
#pragma once
#include <string>

namespace culmen {

/// Name of a network file system by its statfs magic (linux/magic.h, GNU coreutils' stat.c): "NFS", "Lustre", …; "" for
/// any other. FUSE is not decided here.
std::string network_name(unsigned long magic);
/// Name of a network file system by its FUSE type as in /proc/self/mountinfo ("fuse.sshfs" gives "sshfs"); "" for any
/// other, and for a FUSE file system that is not known.
std::string network_fuse_name(const std::string& type);
/// Name of the network file system on which `path` (or its folder, when there is no such file) lies; "" when it is
/// local or cannot be asked.
std::string network_file_system(const std::string& path);
/// A folder on a local file system in which this process may write: the first such of /var/tmp, /tmp and /dev/shm, else
/// /var/tmp.
std::string local_folder();

}  // namespace culmen
