# The kernels, once an instruction set and precision. Only these files see special -m flags.
set(chol_flags_portable "")
set(chol_flags_avx2 -mavx2 -mfma)
set(chol_flags_avx512 -mavx512f -mavx512dq -mavx512vl -mavx512bw -mavx2 -mfma)
set(chol_precisions s d c z)
set(chol_elements float double "Complex<float>" "Complex<double>")
set(chol_isas portable)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND chol_isas avx2 avx512)
endif()
# Unrolled register tiles take minutes to compile at -O3 once sanitizers have instrumented them.
set(chol_kernel_level -O3)
if(CHOL_SANITIZE)
  set(chol_kernel_level -O1)
endif()
foreach(isa IN LISTS chol_isas)
  foreach(precision element IN ZIP_LISTS chol_precisions chol_elements)
    set(kernels chol_kernels_${isa}_${precision})
    add_library(${kernels} OBJECT ${CMAKE_CURRENT_LIST_DIR}/isa/${isa}.cpp)
    target_include_directories(${kernels} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    target_compile_definitions(${kernels} PRIVATE CHOL_PRECISION=${precision}
      "CHOL_ELEMENT=${element}")
    # GCC 12's own AVX-512 header trips the uninitialized warnings (its bug 105593).
    target_compile_options(${kernels} PRIVATE ${chol_kernel_level} ${chol_flags_${isa}} -ffp-contract=fast
      -Wno-uninitialized -Wno-maybe-uninitialized)
    target_link_libraries(${kernels} PRIVATE $<BUILD_INTERFACE:chol_build_flags>)
    target_sources(chol PRIVATE $<TARGET_OBJECTS:${kernels}>)
  endforeach()
endforeach()
