#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the Debian packages that a build (`build`) or all tests (`check`) need, those only that are missing.
set -eu
build="gcc g++ meson ninja-build pkg-config python3 libzydis-dev libdw-dev libelf-dev libzstd-dev libjansson-dev libcmocka-dev qemu-user"
# 32-bit programs: the parts of gcc-multilib, which itself conflicts with the cross compilers of later tests.
check="$build clang libclang-rt-14-dev linux-perf libipt-dev binutils libc6-dev-i386 lib32gcc-12-dev gzip sqlite3 luajit libpfm4-dev papi-tools
    gcc-s390x-linux-gnu libc6-dev-s390x-cross"
case ${1:-build} in
build) want=$build ;;
check) want=$check ;;
*) echo "usage: $0 build|check" >&2; exit 2 ;;
esac

missing=
for p in $want; do
    dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null | grep -qx installed || missing="$missing $p"
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "assay: please install as root:$missing" >&2; exit 4; }
    as_root=sudo
fi
echo "installing:$missing"
log=$(mktemp)
if ! { $as_root apt-get update && $as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1; then
    tail -n 5 "$log" >&2
    echo "assay: could not install:$missing (whole log: $log)" >&2
    exit 4
fi
rm -f "$log"
