#pragma once
void a_thread_reads_while_another_one_forks(void);
void a_thread_reads_while_another_one_maps(void);
void a_thread_reads_while_another_one_locks(void);
void a_thread_writes_while_another_one_forks(void);
void a_thread_writes_while_another_one_sets_flags(void);
void a_fork_does_not_wait_for_a_pause(void);
