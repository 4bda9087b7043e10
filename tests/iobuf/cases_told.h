#pragma once
void other_names_are_the_same_calls(void);
void messages_tell_others(void);
void a_descriptor_is_inherited(void);
void a_descriptor_was_inherited(void);
void a_coarse_clock_hides_a_change(void);
void a_byte_waits_no_longer_than_the_delay(void);
void a_descriptor_comes_in_a_message(void);
