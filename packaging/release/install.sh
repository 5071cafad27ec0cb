#!/bin/sh
# Installs Nuthatch from this directory, without a network: sh install.sh [PREFIX]
# PREFIX is /usr/local by default. The program is in PREFIX/lib/nuthatch, the command is PREFIX/bin/nuthatch.
set -eu
cd "$(dirname "$0")"
prefix=${1:-/usr/local}
fail() { echo "install.sh: $1" >&2; exit 1; }

case $(uname -m) in
  x86_64) arch=amd64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) fail "no program for the processor $(uname -m)" ;;
esac
command -v node >/dev/null || fail "Node 20.19 or newer is missing"
node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
  fail "Node 20.19 or newer is needed, this is $(node --version)"
sha256sum --check --quiet SHA256SUMS || fail "a file of this directory is damaged"

mkdir -p "$prefix/lib" "$prefix/bin"
rm -rf "$prefix/lib/nuthatch.new"
mkdir "$prefix/lib/nuthatch.new"
tar -xzf nuthatch-*-linux-$arch.tar.gz -C "$prefix/lib/nuthatch.new" --strip-components=1 --no-same-owner
rm -rf "$prefix/lib/nuthatch"
mv "$prefix/lib/nuthatch.new" "$prefix/lib/nuthatch"
ln -sf "$prefix/lib/nuthatch/bin/nuthatch.mjs" "$prefix/bin/nuthatch"
echo "Nuthatch $("$prefix/bin/nuthatch" --version) is installed. Start it: $prefix/bin/nuthatch serve"
