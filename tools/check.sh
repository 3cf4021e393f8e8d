#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds and runs every test, each build in a folder of its own; the last line is `N passed, N failed`.
# usage: check.sh [gcc|clang|asan|tsan|s390x ...]   default: all
set -u
cd "$(dirname "$0")/.."
passed=0 failed=0
# Sanitizers confuse gcc's flow warnings; the plain builds keep the code free of them.
strict="-Dwerror=true"

# run NAME "meson options" "test arguments": CC is taken from the environment.
run() {
    name=$1 dir=build-check-$1
    echo "== $name"
    if ! { [ -f "$dir/build.ninja" ] || meson setup "$dir" $2; } >"$dir.log" 2>&1 || ! ninja -C "$dir" >>"$dir.log" 2>&1; then
        tail -n 40 "$dir.log"
        failed=$((failed + 1))
        return
    fi
    rm -f "$dir/meson-logs/testlog.json"
    meson test -C "$dir" --no-rebuild --print-errorlogs $3 2>&1 | grep -vE '^(ninja:|Ok:|Fail:|Timeout:|Expected Fail:|Unexpected Pass:|$)'
    counts=$(python3 tools/count_tests.py "$dir/meson-logs/testlog.json") || counts="0 1"
    passed=$((passed + ${counts% *}))
    failed=$((failed + ${counts#* }))
}

for build in ${*:-gcc clang asan tsan s390x}; do
    case $build in
    gcc) CC=gcc run gcc "$strict" "" ;;
    clang) CC=clang run clang "$strict" "--suite unit --suite prop --suite arch" ;;
    asan) CC=gcc run asan "-Db_sanitize=address,undefined -Db_lundef=false" "--no-suite slow --no-suite peer --timeout-multiplier 4" ;;
    tsan) CC=gcc run tsan "-Db_sanitize=thread -Db_lundef=false" "--suite threads --timeout-multiplier 4" ;;
    s390x) run s390x "$strict -Dcore=true --cross-file tools/s390x.cross" "--timeout-multiplier 4" ;;
    *) echo "no build $build" >&2; exit 2 ;;
    esac
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
