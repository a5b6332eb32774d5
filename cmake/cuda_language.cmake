# CUDA C++20 in the directory that includes this.
if(NOT CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 90)
endif()
enable_language(CUDA)
# CMake 3.25 does not support C++20 with the newest nvcc.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()
set(CMAKE_CUDA_STANDARD 20)
# For device code that is compiled only to be checked. Older compilers generate it.
set(chol_cuda_syntax_only)
if(NOT CHOL_CUDA_OPTIMIZE AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
  set(chol_cuda_syntax_only $<$<COMPILE_LANGUAGE:CUDA>:-fdevice-syntax-only>)
endif()
