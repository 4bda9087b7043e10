// Messages over TCP between the ranks 0 and 1, without the MPI. All ranks call these functions.
#pragma once
#include <stdint.h>

// Connects the two ranks by the network interface on which they exchange the MPI's messages. If the MPI uses no TCP
// there: by loopback inside a node, otherwise by the address of the host name. `buffer_bytes`: of the sockets; 0: as
// the system sets them. Returns why it fails, or NULL. `interface`: its name at rank 0; room for 64 bytes.
const char* connect_sockets(int buffer_bytes, char* interface);
// Makes round trips of `data`, and gives half of the time of each. Returns why it fails, or NULL.
const char* time_sockets(unsigned char* data, int64_t bytes, int64_t calls, int64_t* half_ns);
