# Compile units of the kernel families. A line of a family's instances.def
#   // unit NAME: HEADER TEXT
# asks for a file NAME.cu that includes HEADER of that folder and has TEXT. {precision} with {type} (or
# {standard_type}) and {triangle} with {swapped} stand for each of their values, with a unit for each. Units are as large as
# they are so that no file compiles for minutes; of small families one unit has several instances,
# since each unit takes two seconds for headers alone.
set(chol_cuda_type_s float)
set(chol_cuda_type_d double)
set(chol_cuda_type_c "chol::cuda::Complex<float>")
set(chol_cuda_type_z "chol::cuda::Complex<double>")
set(chol_cuda_swapped_column false)
set(chol_cuda_swapped_row true)

function(chol_cuda_write_unit unit header instances)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${unit}.cu)
  configure_file(instance.cu.in ${file} @ONLY)
  set(chol_cuda_units ${chol_cuda_units} ${file} PARENT_SCOPE)
endfunction()

# The units of one line, appended to chol_cuda_units.
function(chol_cuda_add_units folder line)
  if(NOT line MATCHES "^// unit ([a-z0-9_{}]+): ([a-z_]+\\.cuh) (.+)$")
    message(FATAL_ERROR "${folder}/instances.def: not \"// unit NAME: HEADER TEXT\": ${line}")
  endif()
  set(name ${CMAKE_MATCH_1})
  set(header ${folder}/${CMAKE_MATCH_2})
  string(REPLACE ") CHOL_" ")\nCHOL_" text "${CMAKE_MATCH_3}")
  set(precisions one)
  if(name MATCHES "{precision}")
    set(precisions s d c z)
  endif()
  set(triangles one)
  if(name MATCHES "{triangle}")
    set(triangles column row)
  endif()
  foreach(precision IN LISTS precisions)
    string(REPLACE "chol::cuda::Complex" "std::complex" standard_type
      "${chol_cuda_type_${precision}}")
    foreach(triangle IN LISTS triangles)
      set(unit ${name})
      set(instances "${text}")
      foreach(part unit instances)
        string(REPLACE "{precision}" "${precision}" ${part} "${${part}}")
        string(REPLACE "{triangle}" "${triangle}" ${part} "${${part}}")
        string(REPLACE "{type}" "${chol_cuda_type_${precision}}" ${part} "${${part}}")
        string(REPLACE "{standard_type}" "${standard_type}" ${part} "${${part}}")
        string(REPLACE "{swapped}" "${chol_cuda_swapped_${triangle}}" ${part} "${${part}}")
      endforeach()
      chol_cuda_write_unit(${unit} ${header} "${instances}")
    endforeach()
  endforeach()
  set(chol_cuda_units ${chol_cuda_units} PARENT_SCOPE)
endfunction()

# All units of this folder's families in chol_cuda_units. A new family is found when CMake runs next,
# which a change of these files, or of how many there are, brings about.
set(chol_cuda_units)
file(GLOB_RECURSE instance_files CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}
  instances.def)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${instance_files})
foreach(file IN LISTS instance_files)
  get_filename_component(folder ${file} DIRECTORY)
  file(STRINGS ${file} lines REGEX "^// unit")
  foreach(line IN LISTS lines)
    chol_cuda_add_units(${folder} "${line}")
  endforeach()
endforeach()
