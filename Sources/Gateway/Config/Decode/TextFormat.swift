/// The format of a text in the configuration: its name in the reference, and the regular expression
/// by which an editor finds an error before `check` does.
///
/// An expression may accept a text that `check` refuses, but never the reverse.
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
    case origin
    case slowLimit = "slow > time"
    case secret
    case rate
    case reference
    case storeURL = "URL of a store"
    case password
    case sharedSecret = "secret of any characters"
    case keySetURL = "URL with a query"
    case mediaType = "media type"
    case redirect = "https or https:PORT"

    /// In the syntax of ECMA-262, as JSON Schema requires; nil where any text may be valid.
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
        case .origin: #"^(\*|null|[a-z][a-z0-9+.-]*://(\*\.)?[^\s/?#@*A-Z]+)$"#
        case .slowLimit: #"^slow *> *[0-9]+(\.[0-9]+)?(ms|s|m|h)$"#
        case .secret: "^(none|[A-Za-z0-9._~+/=-]{16,512})$"
        case .rate: "^[1-9][0-9]{0,6}/[smhd]$"
        case .reference: #"^\{[^{}]+\}$"#
        case .storeURL: #"^(rediss?://[^\s/?#@]+(/[0-9]{0,5})?|unix:/.{1,106})$"#
        case .keySetURL: #"^[Hh][Tt][Tt][Pp][Ss]?://[^\s/?#@]+([/?][^\s#]*)?$"#
        case .mediaType: #"^[^\s/*;,]+/([^\s/*;,]+|\*)$"#
        case .redirect: "^https(:[0-9]{1,5})?$"
        case .file, .password: "^.+$"
        case .text, .path, .regex, .sharedSecret: nil
        }
    }

    /// A method, one space, and segments: each is a parameter, or literal text without `*` that
    /// does not begin with `:`. A parameter at the end may have a suffix.
    private static let routePattern =
        "^(" + Config.Method.allCases.map(\.rawValue).joined(separator: "|") + ") "
        + #"(/\*?|(/(\{[A-Za-z0-9_-]+\}|[^\s/?#{}*:][^\s/?#{}*]*|:))+(/\*?)?"#
        + #"|(/(\{[A-Za-z0-9_-]+\}|[^\s/?#{}*:][^\s/?#{}*]*|:))*/\{[A-Za-z0-9_-]+\}\.[A-Za-z0-9._~-]+)$"#
}
