#ifndef TRIBUTARY_CYAML_SHIM_H
#define TRIBUTARY_CYAML_SHIM_H

#if __has_include(<yaml.h>)
#include <yaml.h>
#else
#error "libyaml's headers are missing: run script/deps (Debian/Ubuntu: apt-get install libyaml-dev; macOS: brew install libyaml; Fedora: dnf install libyaml-devel)"
#endif

#endif
