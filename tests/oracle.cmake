# LAPACKE and reference LAPACK as the oracle: the target chol_test_oracle, or the missing parts in
# chol_missing_oracle. Debian and Ubuntu have the reference in separate folders, so that its static
# archives are used whatever BLAS the system has selected. Elsewhere the LAPACK found by CMake is
# the oracle.
set(chol_missing_oracle)
find_path(CHOL_LAPACKE_INCLUDE lapacke.h)
find_library(CHOL_LAPACKE NAMES liblapacke.a lapacke)
if(NOT CHOL_LAPACKE_INCLUDE OR NOT CHOL_LAPACKE)
  list(APPEND chol_missing_oracle LAPACKE)
endif()

set(reference_root /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})
find_library(CHOL_REFERENCE_LAPACK liblapack.a PATHS ${reference_root}/lapack NO_DEFAULT_PATH)
find_library(CHOL_REFERENCE_BLAS libblas.a PATHS ${reference_root}/blas NO_DEFAULT_PATH)
# Dependencies of the archives are in the compiler's library folder.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libgfortran.so
  OUTPUT_VARIABLE gfortran OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(CHOL_REFERENCE_LAPACK AND CHOL_REFERENCE_BLAS AND EXISTS "${gfortran}")
  set(libraries ${CHOL_REFERENCE_LAPACK} ${CHOL_REFERENCE_BLAS} gfortran m)
else()
  find_package(LAPACK QUIET)
  set(libraries LAPACK::LAPACK)
  if(NOT LAPACK_FOUND)
    list(APPEND chol_missing_oracle LAPACK)
  endif()
endif()

if(NOT chol_missing_oracle)
  add_library(chol_test_oracle INTERFACE)
  target_include_directories(chol_test_oracle SYSTEM INTERFACE ${CHOL_LAPACKE_INCLUDE})
  target_link_libraries(chol_test_oracle INTERFACE ${CHOL_LAPACKE} ${libraries})
endif()
