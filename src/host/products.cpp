#include "host/products.hpp"

#include <cstring>
#include <iterator>

#include "host/dispatch.hpp"

namespace chol::host {

#define CHOL_DECLARE_PRODUCTS(isa) \
  extern const Products isa##_s_products, isa##_d_products, isa##_c_products, isa##_z_products
#define CHOL_PRODUCT_TABLES(isa) \
  { &isa##_s_products, &isa##_d_products, &isa##_c_products, &isa##_z_products }

#if defined(CHOL_WITH_PORTABLE)
CHOL_DECLARE_PRODUCTS(portable);
#endif
#if defined(CHOL_WITH_AVX2)
CHOL_DECLARE_PRODUCTS(avx2);
#endif
#if defined(CHOL_WITH_AVX512)
CHOL_DECLARE_PRODUCTS(avx512);
#endif

namespace {

constexpr const Products* kTables[][4] = {
#if defined(CHOL_WITH_AVX512)
    CHOL_PRODUCT_TABLES(avx512),
#endif
#if defined(CHOL_WITH_AVX2)
    CHOL_PRODUCT_TABLES(avx2),
#endif
#if defined(CHOL_WITH_PORTABLE)
    CHOL_PRODUCT_TABLES(portable)
#endif
};

}  // namespace

const Products& products(char precision) {
  const char* const isa = KernelSet::of_this_machine().isa();
  for (const auto& tables : kTables)
    if (std::strcmp(tables[0]->isa, isa) == 0) return *tables[precision_index(precision)];
  return *kTables[std::size(kTables) - 1][precision_index(precision)];
}

#undef CHOL_PRODUCT_TABLES
#undef CHOL_DECLARE_PRODUCTS

}  // namespace chol::host
