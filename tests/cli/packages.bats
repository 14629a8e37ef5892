# What is installed with the executable $TK: by `cmake --install` from the build that it is of, or by the package, if it is
# the package's. Pages and completions say what --help says.
load common

# A package has its files below /usr, its pages compressed, and Debian's names for some documents.
of_package() { [ "$TK" = /usr/bin/tk ] || grep -q '^TK_PACKAGED:BOOL=ON' "$(dirname "$TK")/CMakeCache.txt"; }

setup_file() {
  cd "$BATS_FILE_TMPDIR"
  local build prefix=/usr/local file
  build=$(dirname "$TK")
  ! of_package || prefix=/usr
  if [ "$TK" = /usr/bin/tk ]; then
    mkdir tree
    while read -r file; do [ ! -f "$file" ] || cp --parents "$file" tree; done < <(dpkg-query -L tk-log)
  elif [ -e "$build/cmake_install.cmake" ] && command -v cmake > /dev/null; then
    DESTDIR=$PWD/tree cmake --install "$build" --prefix $prefix > install.log 2>&1 || { cat install.log; return 1; }
  else
    return 0
  fi
  ! of_package || gunzip -r tree
}

setup() {
  cd "$BATS_FILE_TMPDIR" || return 1
  [ -d tree ] || skip "$TK lies in no build directory"
  installed=$BATS_FILE_TMPDIR/tree/usr/local zsh=site-functions documents="LICENSE CHANGELOG.md"
  ! of_package || installed=$BATS_FILE_TMPDIR/tree/usr zsh=vendor-completions documents="copyright changelog changelog.Debian"
}

commands() { "$TK" --help | sed -n '/^Global options/q; s/^  \([a-z][a-z-]*\( [a-z-]*\)\{0,1\}\)  .*/\1/p' | sed 's/ *$//'; }

@test "everything lies where it is looked for" {
  local file
  # shellcheck disable=SC2086
  for file in bin/tk share/man/man1/{tk,tk-consume,tk-topics,tk-topics-create}.1 share/bash-completion/completions/tk \
    "share/zsh/$zsh/_tk" share/fish/vendor_completions.d/tk.fish $(printf 'share/doc/tk-log/%s ' $documents README.md docs/cli.md docs/formats.md); do
    [ -s "$installed/$file" ] || { echo "missing: $file"; false; }
  done
  equal "$("$installed/bin/tk" --version)" "$("$TK" --version)"
  # Nothing else: no objects, libraries or headers.
  equal "$(find "$PWD/tree" -type f | sed "s|^$installed/||; s|/.*||" | sort -u | tr '\n' ' ')" "bin share "
}

@test "the executable is static where the build says so" {
  if [ "$TK" != /usr/bin/tk ]; then # a package's always is
    grep -q '^TK_STATIC:BOOL=ON' "$(dirname "$TK")/CMakeCache.txt" || skip "a dynamic build"
    grep -q '^TK_SANITIZE:STRING=$' "$(dirname "$TK")/CMakeCache.txt" || skip "a build with sanitizers"
  fi
  run -1 ldd "$installed/bin/tk"
  contains "$output" "not a dynamic executable"
}

@test "a manual page for each command, and no other" {
  [ "$(commands | wc -l)" -gt 30 ]
  { echo tk; commands | sed 's/^/tk-/; s/ /-/g'; commands | sed -n 's/^\([a-z]*\) .*/tk-\1/p'; } | sort -u > wanted
  ls "$installed/share/man/man1" | sed 's/\.1$//' | sort > there
  diff wanted there
}

@test "the pages name the very options, examples and paragraphs of --help" {
  local command page
  while read -r command; do
    page=$installed/share/man/man1/tk-${command// /-}.1
    # shellcheck disable=SC2086
    "$TK" $command --help > help
    sed -n '/^Examples:/q; s/^  \(-[-a-zA-Z0-9,]*\).*/\1/p' help | tr , '\n' | grep . | sort > wanted
    # The names stand in bold in the line behind .TP.
    grep -A1 '^\.TP' "$page" | grep '^\\fB\\-' | grep -o 'fB[^ ]*\\fR' | sed 's/^fB//; s/\\fR$//; s/\\-/-/g' | sort > there
    diff wanted there || { echo "$command"; false; }
    [ "$(sed -n '/^Examples:/,$p' help | tail -n +2 | sed 's/^  //')" = \
      "$(sed -n '/^\.EX/,/^\.EE/p' "$page" | sed '1d;$d; s/^\\&//; s/\\-/-/g; s/\\(aq/'"'"'/g; s/\\(ti/~/g; s/\\(ha/^/g; s/\\(ga/`/g; s/\\e/\\/g')" ] || { echo "$command: examples"; false; }
    contains "$(sed -n '/^\.SH DESCRIPTION/,/^\.SH OPTIONS/p' "$page" | tr '\n' ' ')" "$(sed -n '5{s/\. .*//;p;}' help)"
  done < <(commands)
}

@test "man and mandoc have no complaints" {
  local page
  for page in "$installed"/share/man/man1/*.1; do
    if command -v groff > /dev/null; then
      run groff -man -Tutf8 -ww -z "$page"
      equal "$output" ""
    fi
    if command -v mandoc > /dev/null; then
      run mandoc -T lint -W warning "$page"
      equal "$output" ""
    fi
  done
}

@test "tk(1) has every code name with its exit code" {
  local page=$installed/share/man/man1/tk.1
  sed -n '/^\.SH EXIT STATUS/,/^\.P/p' "$page" > status
  equal "$(sed -n '/^\.B 4/,/^\.P/p' status | grep -c '^LOG_DIR_LOCKED$')" 1
  equal "$(sed -n '/^\.B 3/,/^\.B 4/p' status | grep '^[A-Z_]*$' | tr '\n' ' ')" "CORRUPT_MESSAGE CORRUPT_STATE "
}

@test "the completions are those that tk prints" {
  "$TK" completion bash | cmp - "$installed/share/bash-completion/completions/tk"
  "$TK" completion zsh | cmp - "$installed/share/zsh/$zsh/_tk"
  "$TK" completion fish | cmp - "$installed/share/fish/vendor_completions.d/tk.fish"
}

@test "a package's share: compressed pages, Debian's changelog and copyright" {
  command -v cmake > /dev/null || skip "no cmake"
  cmake -DTK="$TK" -DOUT="$PWD/share" -DSOURCE="$project" -DPACKAGED=ON -DPACKAGE=tk-log -DVERSION=9.8.7 -DDATE=2026-11-30 \
    "-DMAINTAINER=Ada Lovelace <ada@example.org>" -P "$project/cmake/make_share.cmake"
  [ -z "$(find share/man1 -name '*.1')" ]
  equal "$(zcat share/man1/tk.1.gz | head -n 1)" "$("$TK" help --man tk | head -n 1)"
  equal "$(zcat share/doc/changelog.Debian.gz | head -n 1)" "tk-log (9.8.7-1) unstable; urgency=medium"
  equal "$(zcat share/doc/changelog.Debian.gz | tail -n 1)" " -- Ada Lovelace <ada@example.org>  Mon, 30 Nov 2026 00:00:00 +0000"
  zcat share/doc/changelog.gz | cmp - "$project/CHANGELOG.md"
  # The licence, word for word.
  equal "$(sed -n '/^ Permission/,$p' share/doc/copyright | sed 's/^ \.$//' | tr -s ' \n' ' ')" \
    " $(sed -n '/^Permission/,$p' "$project/LICENSE" | tr -s ' \n' ' ')"
}

# The form of a maintainer is Debian's (deb-control(5)).
@test "a package's maintainer is a setting of the build" {
  command -v cmake > /dev/null && command -v ninja > /dev/null || skip "no cmake"
  local configure=(cmake -S "$project" -B build --preset release-static -DTK_TESTS=OFF) name
  "${configure[@]}" > configure.log 2>&1 || { cat configure.log; false; }
  contains "$(grep CPACK_PACKAGE_CONTACT build/CPackConfig.cmake)" '"tk authors <tk@localhost.localdomain>"'
  "${configure[@]}" "-DTK_MAINTAINER=Ada Lovelace <ada@example.org>" > configure.log 2>&1
  contains "$(grep CPACK_PACKAGE_CONTACT build/CPackConfig.cmake)" '"Ada Lovelace <ada@example.org>"'
  for name in Ada ada@example.org "Ada <ada>" "Ada <ada@example.org> and others" 'Ada "$X" <ada@example.org>' "$(printf 'Ada\nPriority: required <a@b>')"; do
    run "${configure[@]}" "-DTK_MAINTAINER=$name"
    [ "$status" -ne 0 ] || { echo "taken: $name"; false; }
    contains "$output" "Name <address>"
  done
}
