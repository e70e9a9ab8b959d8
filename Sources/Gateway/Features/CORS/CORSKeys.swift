package import YAMLReader

extension Config {
    /// `cors:`, which web pages may read responses (the CORS protocol of the Fetch standard).
    package struct CORS: Sendable {
        package let location: SourceLocation
        package var origins: [Located<Origin>] = []
        /// Request headers that pages may send; `*` for all.
        package var headers: [Located<String>] = []
        /// Response headers that pages may read, in addition to the gateway's own.
        package var expose: [Located<String>] = []
        package var credentials: Located<Bool>?
        package var maxAge: Located<Duration>?

        init(location: SourceLocation) {
            self.location = location
        }

        /// One of `origins:`.
        package enum Origin: Sendable, Hashable {
            /// `*`
            case any
            /// A serialised origin, as browsers send it; `null` is one.
            case exact(String)
            /// `https://*.example.com`: one label between the two texts.
            case subdomain(prefix: String, suffix: String)

            /// As it is written.
            package var text: String {
                switch self {
                case .any: "*"
                case .exact(let text): text
                case .subdomain(let prefix, let suffix): "\(prefix)*\(suffix)"
                }
            }
        }

        /// The value of `cors` on an endpoint.
        package enum Setting: Sendable {
            /// No rules: `defaults.cors` does not apply either.
            case none
            case rules(CORS)
        }
    }
}

enum CORSKeys {
    static let endpoint: [BlockKey<Config.Endpoint>] = [
        .value(
            "cors", \.cors, .cors, default: .key("defaults.cors"),
            "which web pages of other origins may read its responses; none switches CORS off")
    ]

    static let defaults: [BlockKey<Config.Defaults>] = [
        .block("cors", \.cors, "which web pages of other origins may read responses")
    ]
}

extension Config {
    /// The block of an endpoint replaces `defaults.cors` as a whole.
    package func cors(of endpoint: Endpoint) -> CORS? {
        switch endpoint.cors?.value {
        case .none?: nil
        case .rules(let rules)?: rules
        case nil: defaults?.cors
        }
    }
}

extension Config.CORS: PlainBlock {
    static let keys: [BlockKey<Config.CORS>] = [
        .list(
            "origins", \.origins, .filledList(of: .origin), isRequired: true,
            "pages that may read responses: https://host, https://*.host, null, or \"*\" for all"),
        .list(
            "headers", \.headers, .list(of: .crossOriginHeader),
            "request headers that pages may send, in addition to the headers that are always allowed; \"*\" for all"
        ),
        .list(
            "expose", \.expose, .list(of: .crossOriginHeader),
            "response headers that pages may read, in addition to the gateway's own; \"*\" for all"),
        .value(
            "credentials", \.credentials, .flag, default: .flag(false),
            "whether pages may send cookies and read responses to requests with them"),
        .value(
            "max_age", \.maxAge, .duration(allowsZero: true),
            default: .time(PlanDefaults.corsMaxAge),
            "how long browsers cache the response to a preflight"),
    ]
}

extension ValueReader where Value == Config.CORS.Setting {
    /// `none`, or a block.
    static var cors: ValueReader {
        let message = "must be a block with origins, or none"
        let none = ValueReader.scalar(.choice(["none"]), expected: message) {
            scalar throws(Refusal) in
            guard scalar.text == "none" else { throw Refusal(.init(fixed: message)) }
            return .none
        }
        let block = ValueReader<Config.CORS>.block
        return ValueReader(schema: .either([none.schema, block.schema])) { node, decoder in
            if case .mapping = node.content { return block.read(node, &decoder).map { .rules($0) } }
            return none.read(node, &decoder)
        }
    }
}

extension ValueReader where Value == String {
    /// A header name, or `*`.
    static var crossOriginHeader: ValueReader {
        text(.headerName) { text throws(Refusal) in
            try HeaderSyntax.checkToken(text)
        }
    }
}

extension ValueReader where Value == Config.CORS.Origin {
    static var origin: ValueReader {
        .scalar(
            .text(format: .origin),
            expected: "must be an origin such as https://shop.example.com, or \"*\""
        ) { scalar throws(Refusal) in
            try Config.CORS.Origin(parsing: scalar.text)
        }
    }
}

extension Config.CORS.Origin {
    /// Reads an origin as browsers serialise it: they are compared byte for byte, so any other
    /// spelling would never match.
    package init(parsing text: String) throws(Refusal) {
        if text == "*" {
            self = .any
            return
        }
        if text == "null" {
            self = .exact(text)
            return
        }
        guard let colon = text.firstRange(of: "://"), colon.lowerBound > text.startIndex else {
            throw Refusal("must be an origin such as https://shop.example.com, or \"*\"")
        }
        let scheme = text[..<colon.lowerBound]
        var authority = text[colon.upperBound...]
        guard !authority.contains(where: { "/?#@".contains($0) }) else {
            throw Refusal(
                "must be an origin: scheme, host and port, without a path or a slash at its end")
        }
        guard text.allSatisfy({ $0.isASCII }) else {
            throw Refusal("must be ASCII; write the host in its form with xn--")
        }
        guard text == text.lowercased() else {
            throw Refusal(
                "must be in lower case, as browsers send it"
                    + .hint(" - did you mean \(text.lowercased())?"))
        }
        let isSubdomain = authority.hasPrefix("*.")
        if isSubdomain { authority = authority.dropFirst(2) }
        guard !authority.contains("*") else {
            throw Refusal("can have one '*' only, for the first label: https://*.example.com")
        }
        try Self.check(authority, scheme: scheme)
        self =
            isSubdomain
            ? .subdomain(prefix: "\(scheme)://", suffix: ".\(authority)") : .exact(text)
    }

    private static func check(_ authority: Substring, scheme: Substring) throws(Refusal) {
        guard let first = scheme.utf8.first, (0x61...0x7A).contains(first),
            scheme.utf8.allSatisfy({
                (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0)
            })
        else { throw Refusal("has no valid scheme: '\(scheme)'") }
        let (host, port) = URLSyntax.split(authority)
        _ = try URLSyntax.host(host)
        guard let port else { return }
        let number = try URLSyntax.port(port, allowsZero: false)
        let standard: [Substring: UInt16] = ["http": 80, "https": 443]
        guard standard[scheme] != number else {
            throw Refusal(
                "must not have the port \(number), which browsers omit"
                    + .hint(" - did you mean \(scheme)://\(host)?"))
        }
    }
}
