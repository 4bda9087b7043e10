/* Never gets as far as having a function. */
#include <unistd.h>

__attribute__((constructor)) static void hang(void) {
  for (;;) pause();
}
