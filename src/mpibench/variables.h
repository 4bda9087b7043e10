// Control variables of MPI_T.
#pragma once

// Returns 0 if the variable, an integer, has this value now.
int set_variable(const char* name, int value);
// Prints "ok", the value as text, and its name if the variable has names for its values. Returns NULL, or a static
// error text.
const char* print_variable(const char* name);
