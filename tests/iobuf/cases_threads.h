#pragma once
/// Called before each pwrite of the library. Null: nothing is.
extern void (*_Atomic before_pwrite)(void);
void a_thread_reads_while_another_one_forks(void);
void a_thread_reads_while_another_one_maps(void);
void a_thread_reads_while_another_one_locks(void);
void a_thread_writes_while_another_one_forks(void);
void a_thread_writes_while_another_one_sets_flags(void);
void a_fork_does_not_wait_for_a_pause(void);
