#!/usr/bin/env bash
# Checks what is under deploy/: units, man page, completions, manifests, Compose file, alert rules.
#   Tests/Verify/deploy.sh [TRIBUTARY]      default: the debug build
# A check whose tool is missing is skipped and says so. The tools of Debian: systemd mandoc man-db zsh fish
# prometheus python3-venv.
set -uo pipefail
. "$(dirname "$0")/../../script/lib/usage"
cd "$(dirname "$0")/../.."

tributary=$(realpath "${1:-.build/debug/tributary}")
[ -x "$tributary" ] || { echo "$tributary is missing: swift build --product tributary" >&2; exit 69; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
skipped=0

# check NAME COMMAND...: quiet unless it fails.
check() {
    local name=$1
    shift
    if "$@" >"$work/output" 2>&1; then echo "ok    $name"; else
        echo "FAIL  $name"
        sed 's/^/      /' "$work/output"
        failed=$((failed + 1))
    fi
}
skip() {
    echo "skip  $1: $2 is missing"
    skipped=$((skipped + 1))
}
has() { command -v "$1" >/dev/null; }
silent() { [ -z "$("$@" 2>&1 | tee /dev/stderr)" ]; }

# ---- systemd: the units with the path of this build, because systemd looks for the program
units() {
    mkdir -p "$work/units"
    for unit in deploy/systemd/*; do sed "s|/usr/local/bin/tributary|$tributary|" "$unit" >"$work/units/${unit##*/}"; done
    silent systemd-analyze verify --man=no "$work"/units/*
}
if has systemd-analyze; then
    check "systemd units" units
    check "systemd unit, exposure at most 2.0" \
        systemd-analyze security --offline=true --threshold=20 "$work/units/tributary.service"
else skip "systemd units" systemd-analyze; fi

# ---- man page and completions
if has mandoc; then check "man page, mandoc" silent mandoc -Tlint -W warning deploy/man/tributary.1; else skip "man page" mandoc; fi
groff_warnings() { silent sh -c 'LC_ALL=C.UTF-8 man --warnings -l deploy/man/tributary.1 2>&1 >/dev/null'; }
if has man; then check "man page, man --warnings" groff_warnings; else skip "man page" man; fi
check "completions" deploy/completions "$work/prefix" "$tributary"
for shell in bash zsh fish; do
    # shellcheck disable=SC2046
    if has $shell; then check "completions, $shell -n" $shell -n $(find "$work/prefix" -path "*$shell*" -type f); else
        skip "completions" $shell
    fi
done

# ---- configurations, manifests, Compose file
check "configuration of the Compose file" "$tributary" check --strict deploy/compose/config/tributary.yaml
tools=.build/deploy-tools
if [ ! -x $tools/bin/kubernetes-validate ] && has python3; then
    { python3 -m venv $tools && $tools/bin/pip install -q kubernetes-validate==1.37.0 check-jsonschema; } >/dev/null 2>&1
fi
if [ -x $tools/bin/kubernetes-validate ]; then
    for manifest in deploy/kubernetes/*.yaml; do
        case $manifest in
        # Kinds that are not Kubernetes' own.
        */kustomization.yaml | */servicemonitor.yaml | */prometheusrule.yaml) ;;
        *) check "$manifest" $tools/bin/kubernetes-validate --strict "$manifest" ;;
        esac
    done
    check "manifests agree with each other" $tools/bin/python Tests/Verify/manifests.py "$work"
    check "configuration of the ConfigMap" "$tributary" check --strict "$work/tributary.yaml"
    check "Compose file" $tools/bin/check-jsonschema --builtin-schema vendor.compose-spec deploy/compose/compose.yaml
else skip "manifests and Compose file" "kubernetes-validate (Python package)"; fi
if has kubectl; then check "kustomization" kubectl kustomize deploy/kubernetes; else skip "kustomization" kubectl; fi
if docker compose version >/dev/null 2>&1; then
    check "Compose file, docker compose config" docker compose -f deploy/compose/compose.yaml config -q
else skip "Compose file" "docker compose"; fi

# ---- Prometheus
if has promtool; then
    [ ! -f "$work/rules.yaml" ] || check "rules of the PrometheusRule" promtool check rules "$work/rules.yaml"
    [ ! -f deploy/prometheus/alerts.yml ] || check "alert rules" promtool check rules deploy/prometheus/alerts.yml
    [ ! -f deploy/prometheus/prometheus.yml ] || check "prometheus.yml" promtool check config --syntax-only deploy/prometheus/prometheus.yml
else skip "alert rules" promtool; fi

echo "$failed failed, $skipped skipped"
[ $failed = 0 ]
