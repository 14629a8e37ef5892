#!/usr/bin/env bash
# Installs what is missing for building (default) or for testing, on Debian 12: scripts/install-deps.sh [build|test]
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
case ${1:-build} in
  build) install_packages "${build_packages[@]}" ;;
  test) install_packages "${build_packages[@]}" "${test_packages[@]}" ;;
  *) die "usage: install-deps.sh [build|test]" ;;
esac
