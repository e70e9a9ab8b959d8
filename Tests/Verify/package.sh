#!/usr/bin/env bash
# Installs the packages of script/package where nothing else is, and serves the demo: the .deb in a bare Debian, the archive and
# the image in an empty folder. As root; loopback of a network namespace of its own. Keeps the bare Debian in .build.
#   Tests/Verify/package.sh BINARY
set -uo pipefail
. "$(dirname "$0")/../../script/lib/usage"
cd "$(dirname "$0")/../.."
binary=${1:?the binary of the image}
base=$PWD/.build/verify-package/debian
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

check() {
    local name=$1
    shift
    if "$@" >"$work/output" 2>&1; then echo "ok    $name"; else
        echo "FAIL  $name"
        sed 's/^/      /' "$work/output"
        failed=$((failed + 1))
    fi
}

# Serves in a root folder until the demo responds.
serves() {
    local root=$1 program=$2
    mkdir -p "$root/proc"
    unshare -n -m bash -c '
        ip link set lo up
        mount -t proc proc "$0/proc"
        chroot "$0" "$1" serve >"$2" 2>&1 &
        server=$!
        for _ in $(seq 300); do
            response=$(curl -fsS http://127.0.0.1:8080/products/42 2>/dev/null) && break
            kill -0 $server || break
            sleep 0.1
        done
        echo "$response"
        kill -TERM $server && wait $server && [[ $response = *\"id\":42* ]] || { cat "$2"; exit 1; }
    ' "$root" "$program" "$work/log"
}

if [ ! -e "$base/etc/debian_version" ]; then
    command -v debootstrap >/dev/null || apt-get install -y -qq --no-install-recommends debootstrap >/dev/null || exit
    mkdir -p "$(dirname "$base")"
    debootstrap --variant=minbase bookworm "$base.new" >/dev/null && mv "$base.new" "$base" || exit
fi
for tool in ip:iproute2 skopeo:skopeo; do
    command -v ${tool%:*} >/dev/null || apt-get install -y -qq --no-install-recommends ${tool#*:} >/dev/null || exit
done
script/package --binary "$binary" || exit
sums=$(cat .build/packages/SHA256SUMS)
script/package --binary "$binary" >/dev/null && check "the same bytes again" [ "$sums" = "$(cat .build/packages/SHA256SUMS)" ]
version=$("$binary" --version | cut -d' ' -f2)

# ---- Debian
root=$work/debian
cp -a "$base" "$root"
cp .build/packages/tributary_"$version"_*.deb "$root/tributary.deb"
inside() { unshare -m bash -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$root" "$@"; }
begin=$(date +%s)
check "dpkg -i" inside dpkg -i /tributary.deb
check "the demo, from the package" serves "$root" /usr/bin/tributary
check "in a minute: $(($(date +%s) - begin)) s" [ $(($(date +%s) - begin)) -lt 60 ]
check "the user" inside getent passwd tributary
check "the configuration is for the service only" [ "$(inside stat -c '%U:%G %a' /etc/tributary/tributary.yaml)" = "root:tributary 640" ]
check "the configuration" inside tributary check /etc/tributary/tributary.yaml
check "man page and completions" inside test -s /usr/share/man/man1/tributary.1.gz -a -s /usr/share/bash-completion/completions/tributary
check "the unit names the file" inside grep -q '^ExecStart=/usr/bin/tributary ' /lib/systemd/system/tributary.service
check "the unit names the user" inside grep -q '^User=tributary' /lib/systemd/system/tributary.service
echo "# changed" >>"$root/etc/tributary/tributary.yaml"
check "dpkg -i again" inside dpkg -i --force-confdef /tributary.deb
check "keeps a changed configuration" inside grep -q '# changed' /etc/tributary/tributary.yaml
check "dpkg --remove" inside dpkg --remove tributary
check "keeps the configuration" inside test -e /etc/tributary/tributary.yaml
check "dpkg --purge" inside dpkg --purge tributary
left() { find "$root" -xdev -name '*tributary*' ! -path "$root/tributary.deb" ! -path "$root/proc/*"; }
check "nothing is left: $(left | tr '\n' ' ')" [ -z "$(left)" ]
check "no user is left" [ -z "$(inside getent passwd tributary)" ]

# ---- tar
mkdir -p "$work/tar/tmp"
tar -xzf .build/packages/tributary-"$version"-linux-*.tar.gz -C "$work/tar" --strip-components=1
check "the demo, from the archive" serves "$work/tar" /bin/tributary

# ---- OCI
image=$(echo .build/packages/tributary-"$version"-*.oci.tar)
check "the image, read by skopeo" skopeo inspect "oci-archive:$image"
check "its command" [ "$(skopeo inspect --config "oci-archive:$image" | python3 -c '
import json, sys
config = json.load(sys.stdin)["config"]
print(*config["Entrypoint"], *config["Cmd"], config["User"])')" = "/tributary serve /etc/tributary/tributary.yaml 65532:65532" ]
check "copied by skopeo" skopeo copy --quiet "oci-archive:$image" "dir:$work/image"
mkdir -p "$work/root/tmp"
check "one layer" sh -c 'cd "$0" && tar -xzf "$(python3 -c "import json; print(json.load(open(\"manifest.json\"))[\"layers\"][0][\"digest\"][7:])")" -C "$1"' "$work/image" "$work/root"
check "the demo, from the image" serves "$work/root" /tributary

[ $failed = 0 ] && echo "all checks passed" || echo "$failed checks failed"
[ $failed = 0 ]
