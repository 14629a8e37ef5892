#!/usr/bin/env bash
# Makes the packages in build/packages: a .deb, and a .tar.gz with the static executable for hosts where nothing can be
# installed. Both hold the same executable, built with the preset release-static.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$root"

install_packages "${build_packages[@]}"
build release-static tk || die "the build failed"
tk=build/release-static/tk
! readelf -l "$tk" | grep -q INTERP || die "$tk is not static"

rm -rf build/packages
mkdir -p build/packages
logged cpack cpack --config build/release-static/CPackConfig.cmake -B build/packages || die "cpack failed"
rm -rf build/packages/_CPack_Packages

version=$("$tk" --version | sed -n '1s/^tk \([^ ]*\) .*/\1/p')
name=tk-$version-linux-$(uname -m)
work=$(mktemp -d "${TMPDIR:-/tmp}/tk-package.XXXXXX")
trap 'rm -rf "$work"' EXIT
logged install-static env DESTDIR="$work/tree" cmake --install build/release-static --strip || die "cmake --install failed"
mkdir -p "$work/$name/licenses"
cp "$work/tree/usr/bin/tk" LICENSE README.md CHANGELOG.md "$work/$name"
cp "$work/tree/usr/share/doc/tk-log"/copyright* "$work/$name/licenses"
tar -C "$work" --owner=0 --group=0 -czf "build/packages/$name.tar.gz" "$name"

for package in build/packages/*; do printf '%s  %s bytes\n' "$package" "$(stat -c %s "$package")"; done
