# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the boot files of guests: Debian's kernel, downloaded and unpacked but never installed, and an
# initramfs with the modules that a guest needs. They are kept between runs.
# To be sourced by bash after here (this directory), boot_cache and verbose are set.
# shellcheck disable=SC2154 # these

# Modules to be loaded before the host's files can be mounted, and after that.
early_modules=(virtio_pci 9pnet_virtio 9p overlay)
late_modules=(virtio_net crc32_generic rdma_rxe ib_uverbs rdma_ucm veth bridge nf_tables nft_numgen sch_tbf)

# Boot files that nobody used for so many days are removed.
image_days=14

# cannot REASON: guests do not run on this machine; broken REASON: they should.
cannot() {
    echo "guest: $*" >&2
    exit 2
}

broken() {
    echo "guest: $*" >&2
    exit 1
}

tell() {
    [ "$verbose" = no ] || echo "guest: $*" >&2
}

# Debian's current kernel package, as "NAME VERSION"; nothing if apt does not know.
current_kernel() {
    LC_ALL=C apt-cache show --no-all-versions linux-image-amd64 2>/dev/null |
        sed -n -E 's/^Depends: (linux-image-[^ ]+) \(= ([^)]+)\).*/\1 \2/p'
}

update_index() {
    local sudo=()

    [ "$(id -u)" -eq 0 ] || sudo=(sudo -n)
    tell "updating apt's index"
    timeout -k 10 120 "${sudo[@]}" apt-get -q -o DPkg::Lock::Timeout=120 update
}

# download NAME VERSION DIRECTORY: the package, into that directory.
download() {
    tell "downloading $1 $2"
    (cd "$3" && timeout -k 10 600 apt-get -q -o APT::Sandbox::User=root download "$1=$2" >>"$3/log" 2>&1)
}

# fetch_kernel DIRECTORY: sets kernel_deb, for $kernel. An old index names what the mirror has no more.
fetch_kernel() {
    # shellcheck disable=SC2086 # two words
    if [ ! -e "$boot_cache/${kernel// /_}.deb" ] && ! download $kernel "$1"; then
        update_index >>"$1/log" 2>&1 || return 1
        kernel=$(current_kernel)
        download $kernel "$1" || return 1
    fi
    kernel_deb=$boot_cache/${kernel// /_}.deb
    [ -e "$kernel_deb" ] || mv "$1"/*.deb "$kernel_deb" || return 1
    touch "$kernel_deb"
}

# The kernel itself, uncompressed: emulated CPUs would take seconds to do it.
extract_kernel() {
    local offset

    offset=$(LC_ALL=C grep -obUaP '\xfd7zXZ\x00' "$1" | head -n 1 | cut -d: -f1)
    [ -n "$offset" ] || return 1
    tail -c "+$((offset + 1))" "$1" | xz -dc --single-stream >"$2" 2>/dev/null
    [ "$(head -c 4 "$2")" = $'\x7fELF' ]
}

# copy_modules UNPACKED RELEASE ROOT LIST NAME...: with all that they depend on, in the order of loading.
copy_modules() {
    local unpacked=$1 release=$2 root=$3 list=$4 name path

    for name in "${@:5}"; do
        modprobe -d "$unpacked" -S "$release" --show-depends "$name" >"$unpacked/depends" || return 1
        while read -r path; do
            [ ! -e "$root/modules/${path##*/}" ] || continue
            cp "$unpacked$path" "$root/modules/" || return 1
            echo "${path##*/}" >>"$root/modules/$list"
        done < <(sed -n 's|^insmod .*\(/lib/modules/[^ ]*\).*|\1|p' "$unpacked/depends")
    done
}

# make_initramfs UNPACKED RELEASE FILE
make_initramfs() {
    local root=$1/initramfs

    mkdir -p "$root"/{bin,dev,proc,sys,modules,host,overlay,root} || return 1
    cp "$(command -v busybox)" "$root/bin/busybox" || return 1
    cp "$here/guest-init" "$root/init" && chmod 755 "$root/init" || return 1
    copy_modules "$1" "$2" "$root" early "${early_modules[@]}" || return 1
    copy_modules "$1" "$2" "$root" late "${late_modules[@]}" || return 1
    (cd "$root" && find . | cpio -o -H newc --quiet) >"$3"
}

# build_image DIRECTORY: boot files from $kernel_deb, in DIRECTORY/image.
build_image() {
    local unpacked=$1/unpacked release

    mkdir -p "$unpacked" "$1/image" || return 1
    tell "unpacking ${kernel_deb##*/}"
    dpkg-deb -x "$kernel_deb" "$unpacked" || return 1
    release=$(ls "$unpacked/lib/modules") || return 1
    depmod -b "$unpacked" "$release" || return 1
    extract_kernel "$unpacked/boot/vmlinuz-$release" "$1/image/vmlinux" || return 1
    make_initramfs "$unpacked" "$release" "$1/image/initramfs"
}

# What runs that were killed have left, and what is old. With the lock.
sweep_cache() {
    rm -rf "$boot_cache"/new.*
    find "$boot_cache" -mindepth 1 -maxdepth 1 \( -name 'image-*' -o -name '*.deb' \) -mtime "+$image_days" \
        -exec rm -rf {} +
}

# Of what makes boot files different, with the same kernel.
digest() {
    cat "$here/image.sh" "$here/guest-init" | sha256sum | cut -c 1-16
}

# find_image KERNEL: sets image to where boot files of "NAME VERSION" belong; false if they are not there.
find_image() {
    image=$boot_cache/image-${1// /_}-$(digest)
    [ -e "$image/vmlinux" ] && touch "$image"
}

# find_any_image: the newest, of whatever kernel.
find_any_image() {
    local candidate

    image=
    for candidate in "$boot_cache"/image-*-"$(digest)"; do
        [ ! -e "$candidate/vmlinux" ] || [ "$candidate" -ot "$image" ] || image=$candidate
    done
    [ -n "$image" ]
}

# make_image: for $kernel. With the lock.
make_image() {
    local new

    sweep_cache
    new=$(mktemp -d "$boot_cache/new.XXXXXX")
    if ! fetch_kernel "$new"; then
        tell "the download failed: $(grep -m 1 '^E: ' "$new/log")"
        rm -rf "$new"
        find_any_image || cannot "cannot download the kernel package ${kernel% *} with apt-get"
        return
    fi
    if ! build_image "$new" >>"$new/log" 2>&1; then
        tail -n 5 "$new/log" >&2
        broken "cannot make boot files from $kernel_deb; the rest is in $new/log"
    fi
    if ! find_image "$kernel"; then
        rm -rf "$image"
        mv "$new/image" "$image"
    fi
    rm -rf "$new"
}

# prepare_image: sets image to the directory that has vmlinux and initramfs.
prepare_image() {
    mkdir -p "$boot_cache" || cannot "cannot write to $boot_cache; OPTCAST_GUEST_CACHE names another directory"
    kernel=$(current_kernel)
    if [ -z "$kernel" ]; then
        ! find_any_image || return 0
        update_index >/dev/null 2>&1 || :
        kernel=$(current_kernel)
        [ -n "$kernel" ] || cannot "apt knows no package linux-image-amd64; is there a Debian mirror in its sources?"
    fi
    ! find_image "$kernel" || return 0
    exec 9>"$boot_cache/lock"
    flock -w 900 9 || broken "another run has kept $boot_cache/lock for 15 minutes"
    find_image "$kernel" || make_image
    exec 9>&-
}
