#!/usr/bin/env bash
# Compiles the table of rate limits with its measurement, optimised, as one module, and runs it.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for file in Basics/Bytes Basics/DecimalDigits Basics/Instant Basics/KeyedHash Basics/TokenBucket Gateway/Core/Limits/LimitCells; do
    sed -E '/^(package )?import Basics$/d' "Sources/$file.swift" >"$folder/$(basename "$file").swift"
done
cp Tests/Verify/limit-cells.swift "$folder/main.swift"
swiftc -O -wmo -swift-version 6 -package-name tributary -enable-experimental-feature Lifetimes \
    -o "$folder/limit-cells" "$folder"/*.swift
timeout 120 "$folder/limit-cells"
