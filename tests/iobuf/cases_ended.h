#pragma once
void a_handler_ends_the_program(void);
void a_handler_writes_and_ends_the_program(void);
void a_handler_raises_its_signal_again(void);
void a_handler_aborts_beside_other_threads(void);
void two_threads_end_the_program(void);
