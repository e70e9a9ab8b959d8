import CYAML

/// The version of libyaml that this process uses, which may be newer than the one it was built with.
package enum LibyamlVersion {
    package static var text: String {
        yaml_get_version_string().map { String(cString: $0) } ?? ""
    }
}
