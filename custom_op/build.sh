#!/bin/bash
# Builds the vendor package of operator HardtanhGrad on a machine with CANN, and installs it where asked.
set -euo pipefail

usage() {
    cat <<'USAGE'
usage: build.sh [--soc SOC] [--vendor-name NAME] [--install-path DIR]
  --soc           SoC to build for: ascend910b (default) or ascend910_93; "ascend910b;ascend910_93" for both
  --vendor-name   name of the vendor directory (default ms_hardtanh_grad)
  --install-path  install into DIR/vendors/NAME as well (default: only build the .run package)
USAGE
}

fail() {
    echo "build.sh: $1" >&2
    exit "${2:-1}"
}

soc=ascend910b
vendor_name=ms_hardtanh_grad
install_path=
while [[ $# -gt 0 ]]; do
    case "$1" in
        -h | --help)
            usage
            exit 0
            ;;
        --soc | --vendor-name | --install-path)
            [[ -n "${2:-}" ]] || fail "$1 needs a value" 2
            declare "$(tr - _ <<<"${1#--}")=$2"
            shift 2
            ;;
        *)
            usage >&2
            fail "unknown argument $1" 2
            ;;
    esac
done
for unit in ${soc//;/ }; do
    [[ "$unit" == ascend910b || "$unit" == ascend910_93 ]] || fail "--soc: $unit is not ascend910b or ascend910_93" 2
done
[[ "$vendor_name" =~ ^[a-z][a-z0-9_]*$ ]] || fail "--vendor-name: $vendor_name is not a lower-case identifier" 2

home="${ASCEND_HOME_PATH:-}"
if [[ ! -d "$home/compiler/tikcpp/ascendc_kernel_cmake" && ! -d "$home/tools/tikcpp/ascendc_kernel_cmake" ]]; then
    fail "no CANN toolkit (8.5 to 9.1) at ASCEND_HOME_PATH='$home': install it and run 'source <toolkit>/set_env.sh', which sets ASCEND_HOME_PATH, first."
fi

cd "$(dirname "${BASH_SOURCE[0]}")"
rm -rf build_out # the operator definition is only read when configuring from scratch
cmake -S . --preset default -DASCEND_COMPUTE_UNIT="$soc" -Dvendor_name="$vendor_name"
# One after the other: the package picks up what the target binary has made.
cmake --build build_out --target binary -j"$(nproc)"
cmake --build build_out --target package -j"$(nproc)"
package=$(ls "$PWD"/build_out/*.run)
echo "built $package"

if [[ -n "$install_path" ]]; then
    mkdir -p "$install_path"
    install_path=$(realpath "$install_path")
    bash "$package" -- --quiet --install-for-all --install-path="$install_path"
    echo "installed $install_path/vendors/$vendor_name; to use it: export ASCEND_CUSTOM_OPP_PATH=$install_path/vendors/$vendor_name"
fi
