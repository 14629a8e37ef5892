#!/usr/bin/env bash
# Holds the direction of includes (docs/architecture.md): a layer includes itself and those below it, and third parties
# stay where they belong. Prints what breaks the rule; exit 1 if anything does.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# From the top down.
layers=(cli commands core/sim core/net core/store core/cluster core/producer core/group core/catalog core/log core/format core/io core/base)
bad=0
complain() {
  printf '%s\n' "$*"
  bad=1
}

# rank_of PATH: sets rank to the place of its layer, -1 if it is in none.
rank_of() {
  local i
  rank=-1
  for i in "${!layers[@]}"; do
    [[ $1 == "${layers[$i]}"/* ]] || continue
    rank=$i
    return
  done
}

# file:line:#include <or "path">, of everything that is built into the executable.
includes=$(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]' --include='*.cpp' --include='*.h' core commands cli)
[ -n "$includes" ] || { echo "no includes found: is this the project's root?"; exit 1; }

while IFS=: read -r file line text; do
  [[ $text =~ [\<\"]([^\>\"]+) ]] || continue
  path=${BASH_REMATCH[1]}
  where=$file:$line
  case $path in
    core/* | commands/* | cli/*)
      rank_of "$file"
      from=$rank
      rank_of "$path"
      to=$rank
      [ "$from" -ge 0 ] || complain "$where: $file is in no known layer"
      [ "$to" -ge 0 ] || complain "$where: $path is in no known layer"
      [ "$from" -lt 0 ] || [ "$to" -ge "$from" ] || complain "$where: ${layers[$from]} includes $path, which is above it"
      case $file:$path in core/sim/*:core/net/*) complain "$where: sim does not include net" ;; esac
      ;;
    ../* | */../*) complain "$where: $path goes around the layers" ;;
    tests/*) complain "$where: the program includes a test" ;;
    CLI/*) [[ $file == cli/help.cpp ]] || complain "$where: CLI11 belongs in cli/help.cpp" ;;
    nlohmann/json_fwd.hpp) ;;
    nlohmann/*) [[ $file == *.cpp ]] || complain "$where: nlohmann_json in a header" ;;
    boost/*) [[ $file == core/net/* ]] || complain "$where: Boost belongs in core/net/" ;;
    zlib.h) [[ $file == core/format/codec*.cpp || $file == core/base/*.cpp ]] || complain "$where: zlib belongs in a codec or in core/base" ;;
    xxhash.h)
      [[ $file == core/format/codec*.cpp || $file == core/log/key_map.cpp ]] || complain "$where: xxhash belongs in a codec or in the map of keys"
      ;;
    lz4*.h | zstd*.h | snappy*.h | libdeflate.h)
      [[ $file == core/format/codec*.cpp ]] || complain "$where: $path belongs in core/format/codec_*.cpp" ;;
  esac
done < <(grep -E '"|<(CLI|nlohmann|boost)/|<(zlib|lz4[a-z]*|zstd[a-z_]*|snappy[a-z-]*|libdeflate|xxhash)\.h>' <<<"$includes")

# Core reports; it neither prints nor ends the process.
if grep -rnE 'std::(cout|cerr|clog|printf|puts|exit|quick_exit)\b|fmt::print\(' --include='*.cpp' --include='*.h' core; then
  complain "core prints or exits (above)"
fi
exit $bad
