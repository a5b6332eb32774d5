# LAPACKE and reference LAPACK as the oracle. Debian and Ubuntu keep the reference in folders of its
# own beside the alternatives, so that its static archives are the reference whatever BLAS the
# system has chosen. Elsewhere the LAPACK that CMake finds is the oracle.
add_library(chol_test_oracle INTERFACE)
find_path(CHOL_LAPACKE_INCLUDE lapacke.h REQUIRED)
target_include_directories(chol_test_oracle SYSTEM INTERFACE ${CHOL_LAPACKE_INCLUDE})

find_library(CHOL_LAPACKE NAMES liblapacke.a lapacke REQUIRED)
set(reference_root /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})
find_library(CHOL_REFERENCE_LAPACK liblapack.a PATHS ${reference_root}/lapack NO_DEFAULT_PATH)
find_library(CHOL_REFERENCE_BLAS libblas.a PATHS ${reference_root}/blas NO_DEFAULT_PATH)
if(CHOL_REFERENCE_LAPACK AND CHOL_REFERENCE_BLAS)
  target_link_libraries(chol_test_oracle INTERFACE
    ${CHOL_LAPACKE} ${CHOL_REFERENCE_LAPACK} ${CHOL_REFERENCE_BLAS} gfortran m)
else()
  find_package(LAPACK REQUIRED)
  target_link_libraries(chol_test_oracle INTERFACE ${CHOL_LAPACKE} LAPACK::LAPACK)
endif()
