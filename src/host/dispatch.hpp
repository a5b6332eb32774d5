// Which kernel tables this process uses: chosen once by cpuid, or by CHOL_HOST_ISA.
#pragma once

#include "base/scalar.hpp"
#include "host/kernels/kernel_table.hpp"

namespace chol::host {

/// The tables of one instruction set, by precision letter.
class KernelSet {
 public:
  /// The best set that this CPU runs; CHOL_HOST_ISA may name a lesser one.
  static const KernelSet& of_this_machine();

  const char* isa() const { return tables_[0]->isa; }
  template <class T>
  const Kernels& kernels() const {
    return kernels(precision_letter<T>);
  }
  /// @param precision s, d, c, z
  const Kernels& kernels(char precision) const { return *tables_[precision_index(precision)]; }

 private:
  KernelSet(const Kernels* s, const Kernels* d, const Kernels* c, const Kernels* z)
      : tables_{s, d, c, z} {}
  static KernelSet choose();
  const Kernels* tables_[4];
};

}  // namespace chol::host
