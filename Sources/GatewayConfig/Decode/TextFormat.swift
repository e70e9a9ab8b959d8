/// What a text of the configuration looks like: how the reference calls it, and the regular
/// expression by which an editor finds a mistake before `check` does.
///
/// An expression may let through what `check` refuses, but never the other way round.
enum TextFormat: String, Sendable {
    case text
    case url = "URL"
    case route
    case address
    case host
    case path
    case pathOfURL = "path of a URL"
    case pathWithReferences = "path with references"
    case headerName = "header name"
    case file
    case regex
    case statusRange = "status range"
    case fileMode = "file mode"
    case network

    /// In the language of ECMA-262, as JSON Schema asks for; nil where any text may be right.
    var pattern: String? {
        switch self {
        case .url: #"^[Hh][Tt][Tt][Pp][Ss]?://[^\s/?#@]+(/[^\s?#]*)?$"#
        case .route: Self.routePattern
        case .address:
            #"^(unix:/.{1,106}|\[[0-9A-Fa-f:.]+\]:[0-9]{1,5}|[^\s:/\[\]*]+:[0-9]{1,5})$"#
        case .host: #"^[^\s/\[\]]+$"#
        case .pathOfURL, .pathWithReferences: #"^/[^#\u0000-\u001f]*$"#
        case .headerName: #"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"#
        case .statusRange: "^[2-5][0-9]{2}(-[2-5][0-9]{2})?$"
        case .fileMode: "^0[0-7]{3}$"
        case .network: "^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$"
        case .file: "^.+$"
        case .text, .path, .regex: nil
        }
    }

    /// A method, one space, and segments: each a parameter or literal text without `*` and a `:` in
    /// front.
    private static let routePattern =
        "^(" + Config.Method.allCases.map(\.rawValue).joined(separator: "|") + ") "
        + #"(/|(/(\{[A-Za-z0-9_-]+\}|[^\s/?#{}*:][^\s/?#{}*]*|:))+/?)$"#
}
