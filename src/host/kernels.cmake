# The kernels, once an instruction set and precision. Only these files are compiled with special -m
# flags.
set(chol_flags_portable "")
set(chol_flags_avx2 -mavx2 -mfma)
set(chol_flags_avx512 -mavx512f -mavx512dq -mavx512vl -mavx512bw -mavx2 -mfma)
# Without this option GCC copies a pair of vectors in halves, and a full load afterwards stalls on
# both stores: complex AVX2 tiles took up to six times as long.
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag("-mmove-max=256 -mstore-max=256" CHOL_HAS_MOVE_MAX)
if(CHOL_HAS_MOVE_MAX)
  list(APPEND chol_flags_avx2 -mmove-max=256 -mstore-max=256)
  list(APPEND chol_flags_avx512 -mmove-max=512 -mstore-max=512)
endif()
set(chol_precisions s d c z)
set(chol_elements float double "Complex<float>" "Complex<double>")
set(chol_isas portable)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND chol_isas avx2 avx512)
endif()
# A program that runs on the build machine needs the kernels of that processor only.
set(CHOL_HOST_ISAS ALL CACHE STRING
  "Instruction sets of the host kernels: ALL, or NATIVE: only the best of the machine that builds")
option(CHOL_OPTIMIZE_ALL_ISAS
  "Optimize the host kernels of every instruction set; OFF: not those that the build machine lacks" ON)
# The best that this machine supports.
set(chol_native_isa portable)
if(NOT CMAKE_CROSSCOMPILING)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_FLAGS -march=native)
  check_cxx_source_compiles("
    #if !(defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && defined(__AVX512BW__))
    #error no AVX-512
    #endif
    int main() {}" CHOL_NATIVE_AVX512)
  check_cxx_source_compiles("
    #if !(defined(__AVX2__) && defined(__FMA__))
    #error no AVX2
    #endif
    int main() {}" CHOL_NATIVE_AVX2)
  unset(CMAKE_REQUIRED_FLAGS)
  if(CHOL_NATIVE_AVX512)
    set(chol_native_isa avx512)
  elseif(CHOL_NATIVE_AVX2)
    set(chol_native_isa avx2)
  endif()
  if(CHOL_HOST_ISAS STREQUAL "NATIVE")
    set(chol_isas ${chol_native_isa})
  endif()
endif()
set(chol_foreign_isas ${chol_isas})  # which it cannot run
list(REMOVE_ITEM chol_foreign_isas portable ${chol_native_isa})
if(chol_native_isa STREQUAL "avx512")
  list(REMOVE_ITEM chol_foreign_isas avx2)
endif()
# Synchronization and accessed elements are the same for all vector widths; the wide ones take three
# times as long under AddressSanitizer, which calls a function for each access.
if(CHOL_SANITIZE AND NOT CHOL_HOST_ISAS STREQUAL "NATIVE")
  set(chol_isas portable)
endif()
# Instrumented unrolled register tiles take minutes to compile: they are built without UBSan, which
# checks the rest of the library, and AddressSanitizer checks their accesses by calls, without their
# stack.
set(CHOL_KERNEL_LEVEL -O3 CACHE STRING "Optimization of the host kernels, whatever the build type")
set(chol_kernel_flags ${CHOL_KERNEL_LEVEL})
set(CHOL_MOST_UNROLLED 16 CACHE STRING
  "Largest order whose kernels may have no loops; 16 is the fastest, 10 compiles in half the time")
if(CHOL_SANITIZE)
  string(REGEX REPLACE ",?undefined" "" chol_kernel_sanitizers ${CHOL_SANITIZE})
  set(chol_kernel_flags -O1)
  if(chol_kernel_sanitizers)
    list(APPEND chol_kernel_flags -fsanitize=${chol_kernel_sanitizers} -fno-omit-frame-pointer)
  endif()
  if(chol_kernel_sanitizers MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND chol_kernel_flags
      "SHELL:--param asan-instrumentation-with-call-threshold=0 --param asan-stack=0")
  endif()
endif()
foreach(isa IN LISTS chol_isas)
  string(TOUPPER CHOL_WITH_${isa} with_isa)
  target_compile_definitions(chol PRIVATE ${with_isa})
  set(kernel_flags ${chol_kernel_flags})
  if(isa IN_LIST chol_foreign_isas AND NOT CHOL_OPTIMIZE_ALL_ISAS)
    list(TRANSFORM kernel_flags REPLACE "^-O.$" -O0)
  endif()
  # Portable vectors have too few lanes for straight-line code of large orders to be worth its
  # compile time.
  set(most_unrolled ${CHOL_MOST_UNROLLED})
  if(isa STREQUAL "portable" AND most_unrolled GREATER 6)
    set(most_unrolled 6)
  endif()
  foreach(precision element IN ZIP_LISTS chol_precisions chol_elements)
    set(kernels chol_kernels_${isa}_${precision})
    add_library(${kernels} OBJECT
      ${CMAKE_CURRENT_LIST_DIR}/isa/${isa}.cpp ${CMAKE_CURRENT_LIST_DIR}/isa/products/${isa}.cpp)
    target_include_directories(${kernels} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    target_compile_definitions(${kernels} PRIVATE CHOL_PRECISION=${precision}
      "CHOL_ELEMENT=${element}" CHOL_MOST_UNROLLED=${most_unrolled})
    # GCC 12's own AVX-512 header trips the uninitialized warnings (its bug 105593).
    target_compile_options(${kernels} PRIVATE ${kernel_flags} ${chol_flags_${isa}}
      -ffp-contract=fast -fno-math-errno -Wno-uninitialized -Wno-maybe-uninitialized)
    target_link_libraries(${kernels} PRIVATE $<BUILD_INTERFACE:chol_build_flags>)
    target_sources(chol PRIVATE $<TARGET_OBJECTS:${kernels}>)
  endforeach()
endforeach()
