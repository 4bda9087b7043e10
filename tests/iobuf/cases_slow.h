#pragma once
void a_byte_is_not_early_after_a_slow_write(void);
void an_open_that_shortens_a_file_locks_no_other_one(void);
