// chol_set_workspace: any size is accepted, nothing outside of it is written, results are the same.
#include "support/expect.hpp"
#include "support/oracle.hpp"
#include "support/setting.hpp"

namespace chol::test {
namespace {

template <class T>
class Workspace : public testing::Test {};
using Elements = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Workspace, Elements);

/// posv of a few systems on this handle; all results.
template <class T>
std::vector<T> solved(chol_handle_t handle, Layout layout, int64_t n, chol_uplo_t uplo) {
  Arrays<T> arrays(host_memory(), layout, uniform(layout == Layout::one ? 1 : 9, n, 1, 3, 1));
  Dense<T> rhs(n, 3);
  for (size_t k = 0; k < rhs.values.size(); ++k) rhs.values[k] = T(static_cast<RealOf<T>>(k % 7));
  for (int64_t b = 0; b < arrays.batch(); ++b) {
    arrays.set_triangle(b, uplo, reference<T>(n, static_cast<int>(b % 3)).A);
    arrays.set_rhs(b, rhs);
  }
  run_well(arrays, handle, Function::posv, uplo);
  std::vector<T> all;
  for (int64_t b = 0; b < arrays.batch(); ++b)
    for (const std::vector<T>& part : {arrays.lower(b, uplo).values, arrays.rhs(b).values})
      all.insert(all.end(), part.begin(), part.end());
  return all;
}

TYPED_TEST(Workspace, AnySizeAndAlignment) {
  const Handle plain(CHOL_BACKEND_HOST, 2);
  for (const Layout layout : kLayouts)
    for (const int64_t n : {3, 17, 64, 130}) {
      const std::vector<TypeParam> expected = solved<TypeParam>(plain, layout, n, CHOL_UPPER);
      for (const size_t bytes : {0u, 1u, 255u, 256u, 5000u, 70001u, 1u << 22})
        for (const Edge edge : {Edge::start, Edge::end}) {
          Handle handle(CHOL_BACKEND_HOST, 2);
          Block block(host_memory(), bytes, edge);
          ASSERT_EQ(chol_set_workspace(handle, block.as<void>(), bytes), CHOL_STATUS_SUCCESS);
          ASSERT_EQ(solved<TypeParam>(handle, layout, n, CHOL_UPPER), expected)
              << layout_name(layout) << " n " << n << " workspace " << bytes;
          ASSERT_EQ(chol_set_workspace(handle, nullptr, 0), CHOL_STATUS_SUCCESS);
          ASSERT_EQ(solved<TypeParam>(handle, layout, n, CHOL_UPPER), expected);
        }
    }
}

/// A query does not access its arrays, and the returned size suffices for any start address: the
/// allocation test verifies that nothing else is allocated.
TYPED_TEST(Workspace, QueryReturnsASufficientSize) {
  const Handle plain(CHOL_BACKEND_HOST, 2);
  for (const Layout layout : kLayouts)
    for (const int64_t n : {0, 3, 40, 200}) {
      const std::vector<TypeParam> expected = solved<TypeParam>(plain, layout, n, CHOL_LOWER);
      Handle handle(CHOL_BACKEND_HOST, 2);
      size_t bytes = 7;
      ASSERT_EQ(chol_query_workspace(handle, &bytes), CHOL_STATUS_SUCCESS);
      ASSERT_EQ(bytes, 0u);
      Arrays<TypeParam> arrays(host_memory(), layout,
                               uniform(layout == Layout::one ? 1 : 9, n, 1, 3, 1));
      ASSERT_EQ(arrays.run(handle, Function::posv, CHOL_LOWER), CHOL_STATUS_SUCCESS);
      ASSERT_EQ(bytes > 0, n > 0) << layout_name(layout) << " n " << n;
      ASSERT_EQ(chol_query_workspace(handle, nullptr), CHOL_STATUS_SUCCESS);
      Block block(host_memory(), bytes + 3, Edge::end);
      ASSERT_EQ(chol_set_workspace(handle, block.as<char>() + 3, bytes), CHOL_STATUS_SUCCESS);
      ASSERT_EQ(solved<TypeParam>(handle, layout, n, CHOL_LOWER), expected);
    }
}

/// potri works in place: LAPACK's callers have no memory for a copy of the matrix.
TYPED_TEST(Workspace, InverseTakesNoSecondMatrix) {
  const Handle handle(CHOL_BACKEND_HOST, 2);
  const int64_t n = 1200;
  size_t bytes = 0;
  ASSERT_EQ(chol_query_workspace(handle, &bytes), CHOL_STATUS_SUCCESS);
  for (const Layout layout : {Layout::one, Layout::strided}) {
    Arrays<TypeParam> arrays(host_memory(), layout, uniform(1, n));
    ASSERT_EQ(arrays.run(handle, Function::potri, CHOL_LOWER), CHOL_STATUS_SUCCESS);
    EXPECT_LT(bytes, n * n * sizeof(TypeParam) / 2) << layout_name(layout);
  }
}

TYPED_TEST(Workspace, NoMemoryForBytes) {
  const Handle handle;
  EXPECT_EQ(chol_set_workspace(handle, nullptr, 1), CHOL_STATUS_INVALID_VALUE);
  EXPECT_STREQ(handle.last_error(),
               "chol_set_workspace: memory = NULL, must point to its elements");
}

}  // namespace
}  // namespace chol::test
