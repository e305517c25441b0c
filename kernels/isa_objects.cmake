# tinyprof_add_isa_objects(TARGET)
# Compiles the Eigen kernels (ops/eigen_table.cc and ops/*/eigen*.cc) once for each instruction set and
# adds one object for each to TARGET.
#
# Inline functions are what makes this delicate: std::vector's or Eigen's, compiled with AVX-512 in one
# file, are merged by name with the same function of a baseline file, and the linker may keep the AVX-512
# one for everybody. So the objects of an ISA are linked into one (which dissolves their comdat groups)
# and every symbol of it but its table of kernels is made local.
set(isas baseline)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  list(APPEND isas avx2 avx512)
endif()
set(TINYPROF_ISAS ${isas} CACHE INTERNAL "Instruction sets that the kernels are compiled for")
set(TINYPROF_ISA_FLAGS_baseline "")
set(TINYPROF_ISA_FLAGS_avx2 -mavx2 -mfma -mbmi -mbmi2 -mlzcnt -mpopcnt)
set(TINYPROF_ISA_FLAGS_avx512 ${TINYPROF_ISA_FLAGS_avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl
                              -mprefer-vector-width=512)

# Of the linkers only GNU's dissolves groups in a partial link; CMake picks LLVM's for clang.
find_program(TINYPROF_GNU_LD NAMES ld.bfd ld REQUIRED)

function(tinyprof_add_isa_objects target)
  foreach(family ${TINYPROF_OP_FAMILIES})
    file(GLOB family_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/ops/${family}/eigen*.cc)
    list(APPEND sources ${family_sources})
  endforeach()
  list(APPEND sources ${CMAKE_CURRENT_SOURCE_DIR}/ops/eigen_table.cc)
  foreach(isa ${TINYPROF_ISAS})
    tinyprof_add_isa_object(${target} ${isa} "${sources}")
  endforeach()
endfunction()

function(tinyprof_add_isa_object target isa sources)
  set(objects tinyprof_eigen_${isa})
  set(linked ${CMAKE_CURRENT_BINARY_DIR}/${objects}.linked.o)
  set(merged ${CMAKE_CURRENT_BINARY_DIR}/${objects}.o)
  add_library(${objects} OBJECT ${sources})
  target_link_libraries(${objects} PRIVATE tinyprof_options Eigen3::Eigen OpenMP::OpenMP_CXX)
  target_compile_definitions(${objects} PRIVATE TINYPROF_ISA_NAMESPACE=${isa} EIGEN_DONT_PARALLELIZE
                                                EIGEN_NO_DEBUG)
  target_compile_options(${objects} PRIVATE ${TINYPROF_ISA_FLAGS_${isa}} -fno-math-errno)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Statics of inline functions would be "unique" symbols, which objcopy does not make local. And GCC's
    # own AVX-512 header warns of its undefined registers (GCC bug 105593). Registers as template arguments,
    # which is how Eigen's packets are used, lose an alignment that templates do not need.
    target_compile_options(${objects} PRIVATE -fno-gnu-unique -Wno-maybe-uninitialized
                                              -Wno-uninitialized -Wno-ignored-attributes)
  endif()
  # Eigen's speed lives on inlining. Sanitized and covered code keeps the level of its build type, or the
  # instrumentation takes minutes to compile.
  if(NOT TINYPROF_SANITIZE AND NOT TINYPROF_COVERAGE)
    target_compile_options(${objects} PRIVATE -O3)
  endif()
  add_custom_command(
    OUTPUT ${merged}
    COMMAND ${TINYPROF_GNU_LD} -r --force-group-allocation -o ${linked} $<TARGET_OBJECTS:${objects}>
    COMMAND ${CMAKE_OBJCOPY} --keep-global-symbol=tinyprof_eigen_kernels_${isa} ${linked} ${merged}
    BYPRODUCTS ${linked}
    DEPENDS ${objects} $<TARGET_OBJECTS:${objects}>
    COMMENT "Merging the ${isa} kernels"
    COMMAND_EXPAND_LISTS VERBATIM)
  set_source_files_properties(${merged} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_sources(${target} PRIVATE ${merged})
endfunction()
