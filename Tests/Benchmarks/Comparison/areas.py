"""Which part of the program a function belongs to, by its symbol and its library."""

import re

# In the order of the table. The colours are for light and dark.
AREAS = {
    "Gateway": ("#9ec5fe", "#2f5d9b"),
    "Promises": ("#b9d7a4", "#4b7132"),
    "HTTPServer": ("#f7c59f", "#8f5a2b"),
    "HTTPClient": ("#f2b5b5", "#8c4343"),
    "HTTP": ("#f6dd8f", "#7f6a1f"),
    "JSONText": ("#d6c1f1", "#65498c"),
    "Reactor, UVReactor": ("#a5dfe0", "#2c7073"),
    "Basics": ("#c9d1d9", "#4b535d"),
    "Assembly": ("#f0bfe0", "#84416d"),
    "other modules": ("#dcd6c8", "#5f5a4c"),
    "reference counting": ("#ff9f8a", "#a03a26"),
    "allocation": ("#ffbf66", "#94600f"),
    "copying and comparing bytes": ("#cfe3b0", "#5b6f38"),
    "Swift's library and runtime": ("#d3d3f0", "#50508a"),
    "libuv": ("#9fd8c3", "#2a6a55"),
    "system calls, C library": ("#b8c4cc", "#43525d"),
}
MODULES = {
    "Gateway": "Gateway", "Patterns": "Gateway", "Promises": "Promises",
    "PromiseOperators": "Promises", "HTTPServer": "HTTPServer", "HTTPClient": "HTTPClient", "HTTP": "HTTP",
    "JSONText": "JSONText", "Reactor": "Reactor, UVReactor", "UVReactor": "Reactor, UVReactor", "Basics": "Basics",
    "System": "Reactor, UVReactor", "Assembly": "Assembly", "Process": "Assembly", "tributary": "Assembly"}
COUNTING = re.compile(
    r"swift_(bridgeObject|unknownObject|nonatomic_|unowned|weak)?_?(Retain|Release|retain|release)|RefCount")
ALLOCATION = re.compile(
    r"malloc|calloc|realloc|^_?_?(cfree|free)$|_int_free|unlink_chunk|tcache|swift_(alloc|dealloc|slow)|swift_initStack|operator (new|delete)"
    r"|^_Zn|^_Zd|^posix_memalign|^sysmalloc|swift_initStaticObject|swift_getObjectType")
# Of the target CByteClasses, which finds the tokens of JSON.
CLASSIFIERS = re.compile(r"^(base|avx2|avx512)_(tokens|utf8|plain)")
# Functions of the same target, for the heads of HTTP.
SCANS = re.compile(r"^tributary_(end_of_(name|path|value)|first_byte)_of_few")
BYTES = re.compile(r"^_*(mem(cpy|move|set|chr|cmp|pcpy)|str(len|cmp|chr))")


def area_of(symbol, library):
    """The area of a function, by its mangled name and the file name of its library."""
    if "libuv" in library or symbol.startswith(("uv_", "tributary_uv")):
        return "libuv"
    if COUNTING.search(symbol) and not symbol.startswith("$s"):
        return "reference counting"
    if BYTES.match(symbol):
        return "copying and comparing bytes"
    if ALLOCATION.search(symbol) and not symbol.startswith("$s"):
        return "allocation"
    if CLASSIFIERS.match(symbol):
        return "JSONText"
    if SCANS.match(symbol):
        return "HTTP"
    if "libswift" in library:
        return "Swift's library and runtime"
    if found := re.match(r"\$s(\d+)(\w+)", symbol):
        module = found[2][:int(found[1])]
        return MODULES.get(module, "other modules")
    if symbol.startswith("$s"):
        # The standard library's generics, compiled for the program's types.
        return "Swift's library and runtime"
    return "system calls, C library"
