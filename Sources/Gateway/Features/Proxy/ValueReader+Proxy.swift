import YAMLReader

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
            } else if index == segments.count - 1, segment.hasPrefix("{"),
                let brace = segment.firstIndex(of: "}"), segment[brace...].hasPrefix("}.")
            {
                let suffix = segment[segment.index(after: brace)...]
                try Self.check(literal: suffix)
                pieces.append(.parameter(String(segment[..<brace].dropFirst())))
                pieces.append(.literal(String(suffix)))
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
