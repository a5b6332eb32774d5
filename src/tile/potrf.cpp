#include "tile/potrf.hpp"

#include "base/precisions.h"
#include "tile/by_columns.hpp"
#include "tile/by_rows.hpp"

namespace chol::tile {

template <class T>
void factor(const Devices<T>& devices, const CyclicMatrix<T>& A, PotrfWorkspace<T>& work,
            ColumnSource<T>* source) {
  if (A.by_rows)
    ByRows<T>(devices, A, work).run();
  else
    ByColumns<T>(devices, A, work, source).run();
}

template <class T>
int first_bad_minor(const Devices<T>& devices) {
  int first = 0;
  for (PanelOps<T>* ops : devices)
    if (const int bad = ops->info(); bad > 0 && (first == 0 || bad < first)) first = bad;
  return first;
}

#define CHOL_INSTANTIATE(prefix, T, R)                                                   \
  template void factor<T>(const Devices<T>&, const CyclicMatrix<T>&, PotrfWorkspace<T>&, \
                          ColumnSource<T>*);                                             \
  template int first_bad_minor<T>(const Devices<T>&);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tile
