#pragma once
void a_byte_is_not_early_after_a_slow_write(void);
