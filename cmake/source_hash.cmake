# Writes OUTPUT, a C++ file with a hash of the sources in the folder SOURCES: their names and contents, tests left out.
file(GLOB_RECURSE files RELATIVE ${SOURCES} ${SOURCES}/*.cpp ${SOURCES}/*.h)
list(FILTER files EXCLUDE REGEX "_test\\.cpp$")
list(SORT files)
set(hashes)
foreach(file IN LISTS files)
  file(SHA256 ${SOURCES}/${file} hash)
  string(APPEND hashes "${file} ${hash} ")
endforeach()
string(SHA256 hash "${hashes}")
string(SUBSTRING ${hash} 0 12 hash)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[
namespace limpid {
const char* source_hash() { return "@hash@"; }
}  // namespace limpid
]] @ONLY)
