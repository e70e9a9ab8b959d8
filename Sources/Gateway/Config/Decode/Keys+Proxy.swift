import YAMLReader

/// The keys of `proxy`, and the syntax of its values.
extension Config.Proxy: PlainBlock {
    static let keys: [BlockKey<Config.Proxy>] = [
        .value("to", \.to, .text, isRequired: true, "name of the backend"),
        .value(
            "path", \.path, .proxyPath, default: .description("the client's path"),
            "path at the backend, with {parameters} and a * for the rest of the route"),
        .value(
            "timeout", \.timeout, .duration, default: .time(PlanDefaults.proxyTimeout),
            "time limit from the last byte of the request to the head of the response"),
        .value(
            "idle_timeout", \.idleTimeout, .duration, default: .time(PlanDefaults.proxyIdleTimeout),
            "maximum time in which no byte of the bodies is transferred"),
        .value(
            "max_duration", \.maxDuration, .duration,
            "time limit for the whole exchange, with both bodies"),
        .value(
            "max_body", \.maxBody, .size(upTo: SizeLimits.stream),
            "maximum size of the request's body; else 413"),
        .value(
            "host", \.host, .proxyHost, default: .text("backend"),
            "Host of the requests: that of the backend's URL, that of the client, or a name"),
        .value(
            "forwarded", \.forwarded, .choice, default: .choice(PlanDefaults.proxyForwarded),
            "headers that send the client's address: X-Forwarded-* (x), Forwarded (rfc7239)"),
        .value(
            "client_cert", \.clientCert, .choice, default: .choice(PlanDefaults.proxyClientCert),
            "whether Client-Cert sends the certificate of a verified client (RFC 9440)"),
        .value(
            "credential", \.credential, .choice, default: .choice(PlanDefaults.proxyCredential),
            "whether the backend receives the credential that auth has checked"),
        .value(
            "interim", \.interim, .choice, default: .choice(PlanDefaults.proxyInterim),
            "which clients receive interim responses of the backend, such as 103"),
        .list(
            "headers", \.headers, .headerTemplates,
            "header fields that are set on the request, instead of the client's"),
        .list(
            "drop_headers", \.dropHeaders, .list(of: .droppedHeader),
            "header fields that are removed from the request"),
        .value(
            "underscores", \.underscores, .choice,
            default: .choice(PlanDefaults.proxyUnderscores),
            "whether the client's header fields with _ in their names, which many servers take for -,"
                + " reach the backend"),
        .list(
            "upgrade", \.upgrade, .list(of: .upgradeToken),
            "protocols that clients may switch to, e.g. websocket"),
        .block("retry", \.retry, "sends a request without a body again after a failure"),
    ]
}

extension ValueReader where Value == Config.Proxy {
    /// The name of a backend, or a block.
    static var proxy: ValueReader {
        let name = ValueReader<String>.text
        let block = ValueReader<Config.Proxy>.block
        return ValueReader(schema: .either([name.schema, block.schema])) { node, decoder in
            if case .mapping = node.content { return block.read(node, &decoder) }
            return name.read(node, &decoder).map { name in
                var proxy = Config.Proxy(location: node.location)
                proxy.to = Located(name, of: node)
                return proxy
            }
        }
    }
}

extension ValueReader where Value == Config.ProxyPath {
    static var proxyPath: ValueReader {
        .scalar(.text(format: .text), expected: "must be a path such as /v1/*") {
            scalar throws(Refusal) in
            try Config.ProxyPath(parsing: scalar.text)
        }
    }
}

extension Config.ProxyPath {
    package init(parsing text: String) throws(Refusal) {
        guard text.hasPrefix("/") else {
            throw Refusal("must begin with a '/'; the host comes from the backend")
        }
        guard !text.contains("?") else {
            throw Refusal("must have no query (?...); the client's query is passed on")
        }
        var pieces: [Piece] = []
        let segments = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            pieces.append(.literal("/"))
            if segment == "*" {
                guard index == segments.count - 1 else {
                    throw Refusal("must have its '*' as the last segment")
                }
                pieces.append(.rest)
            } else if segment.hasPrefix("{"), segment.hasSuffix("}") {
                pieces.append(.parameter(String(segment.dropFirst().dropLast())))
            } else {
                try Self.check(literal: segment)
                pieces.append(.literal(String(segment)))
            }
        }
        self.text = text
        self.pieces = pieces
    }

    private static func check(literal segment: Substring) throws(Refusal) {
        guard !segment.contains(where: { "*{}".contains($0) }) else {
            throw Refusal(
                "must have '*' and parameters as whole segments, such as /v1/{id}/*, not '\(segment)'"
            )
        }
        let decoded = segment.lowercased().replacing("%2e", with: ".")
        guard decoded != ".", decoded != ".." else {
            throw Refusal("must not have the segment '\(segment)'")
        }
        try URLSyntax.check(pathAndQuery: String(segment))
    }
}

extension ValueReader where Value == Config.ProxyHost {
    static var proxyHost: ValueReader {
        .scalar(.text(format: .text), expected: "must be backend, client or a host") {
            scalar throws(Refusal) in
            switch scalar.text {
            case "backend": return .backend
            case "client": return .client
            default:
                let (host, port) = URLSyntax.split(scalar.text[...])
                _ = try URLSyntax.host(host)
                if let port { _ = try URLSyntax.port(port, allowsZero: false) }
                return .name(scalar.text)
            }
        }
    }
}

extension ValueReader where Value == String {
    /// A header of the client's request that can be removed.
    static var droppedHeader: ValueReader {
        text(.headerName) { text throws(Refusal) in try HeaderSyntax.check(name: text) }
    }

    /// The name of a protocol in `Upgrade` (RFC 9110 7.8), in lower case.
    static var upgradeToken: ValueReader {
        text { text throws(Refusal) in
            guard HeaderSyntax.isName(text) else {
                throw Refusal("must be the name of a protocol, such as websocket")
            }
            guard text == text.lowercased() else { throw Refusal("must be in lower case") }
            guard text != "h2c" else {
                throw Refusal("must not be 'h2c', whose messages the gateway could not check")
            }
        }
    }
}
