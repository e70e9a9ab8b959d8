import CUV

/// The version of libuv that this process uses, which may be newer than the one it was built with.
package enum LibuvVersion {
    package static var text: String { String(cString: uv_version_string()) }
}
