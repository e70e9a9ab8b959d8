#ifndef TRIBUTARY_CUV_SHIM_H
#define TRIBUTARY_CUV_SHIM_H

#if __has_include(<uv.h>)
#include <uv.h>
#else
#error "libuv's headers are missing: run script/deps (Debian/Ubuntu: apt-get install libuv1-dev; macOS: brew install libuv; Fedora: dnf install libuv-devel)"
#endif

#if UV_VERSION_HEX < ((1 << 16) | (44 << 8))
#error "libuv 1.44 or newer is needed"
#endif

#endif
