# The fuzz targets: tests/fuzz/<source>.cpp, for a codec once a codec. Each needs no more than tk_cli.
set(TK_FUZZ_TARGETS batch legacy codec_gzip codec_snappy codec_lz4 codec_zstd json index snapshot checkpoint meta
  topics group argument format scan)
if(TK_SERVE)
  list(APPEND TK_FUZZ_TARGETS wire http)
endif()

# tk_fuzz_target NAME FUNCTION: an object library fuzz_object_<NAME> whose entry point is called FUNCTION.
function(tk_fuzz_target name function)
  string(REGEX REPLACE "_.*" "" source ${name})
  add_library(fuzz_object_${name} OBJECT ${PROJECT_SOURCE_DIR}/tests/fuzz/${source}.cpp)
  target_link_libraries(fuzz_object_${name} PUBLIC tk_cli)
  target_compile_definitions(fuzz_object_${name} PRIVATE LLVMFuzzerTestOneInput=${function})
  # g++ 12 takes the concatenation of short strings for an overlapping copy (GCC bug 105651).
  target_compile_options(fuzz_object_${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
  list(FIND TK_FUZZ_CODECS ${name} codec)
  if(codec GREATER 0)
    target_compile_definitions(fuzz_object_${name} PRIVATE TK_FUZZ_CODEC=${codec})
  endif()
endfunction()
set(TK_FUZZ_CODECS none codec_gzip codec_snappy codec_lz4 codec_zstd)
