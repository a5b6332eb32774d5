#include "memory.h"

#include <stdlib.h>
#include <unistd.h>

double* allocate_doubles(size_t count, const char* what, failure_t* failure) {
  const double wanted = 8.0 * (double)count;
  const double here = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  double* memory = wanted < here ? calloc(count > 0 ? count : 1, sizeof(double)) : NULL;
  if (!memory) {
    fail(failure, kExitLibrary, "no memory for %s: %.2f GB of the machine's %.2f GB", what,
         1e-9 * wanted, 1e-9 * here);
  }
  return memory;
}
