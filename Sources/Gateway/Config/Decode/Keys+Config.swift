import YAMLReader

extension Config: PlainBlock {
    static let keys: [BlockKey<Config>] =
        [
            .init("$schema", .text(format: "URL"), "for editors; not used") { _, _, _ in },
            .value(
                "version", \.version, .count(1...1), isRequired: true,
                "the version of this language: 1"),
            .value(
                "listen", \.listen, .listenAddress,
                "where clients connect: host:port, \"[v6]:port\" or unix:/path"),
            .value(
                "admin", \.admin, .listenAddress,
                "where /livez, /readyz and /metrics are served; off when absent; keep it private"),
            .value("workers", \.workers, .workers, "event loops; auto is one for each processor"),
            .block("log", \.log, "what is logged, and how"),
            .block("limits", \.limits, "what one process takes in"),
            .block("drain", \.drain, "how a stop waits for running requests"),
            .block(
                "defaults", \.defaults, "for every endpoint and call that does not say otherwise"),
            .list(
                "include", \.include, .oneOrMany(of: .text),
                "files with more endpoints and backends, such as endpoints/*.yaml"),
        ] + sharedKeys

    /// What an included file may say.
    fileprivate static let sharedKeys: [BlockKey<Config>] = [
        .list("backends", \.backends, .named(), "where calls go, by name"),
        .list(
            "endpoints", \.endpoints, .blocks(titled: Config.Endpoint.title),
            "the routes that clients call"),
    ]
}

/// An included file: a part of the configuration.
struct IncludedConfig: PlainBlock {
    var config: Config

    init(place: Place) {
        config = Config(place: place)
    }

    static let keys: [BlockKey<IncludedConfig>] = Config.keys.map { key in
        let isShared = Config.sharedKeys.contains { $0.name == key.name }
        return BlockKey(key.name, key.schema.value, key.schema.doc) { member, block, decoder in
            if isShared {
                key.decode(member, &block.config, &decoder)
            } else {
                decoder.fail(
                    member.keyPlace,
                    "belongs into the main file; an included one has endpoints and"
                        + " backends")
            }
        }
    }
}

extension Config.Log: PlainBlock {
    static let keys: [BlockKey<Config.Log>] = [
        .value("format", \.format, .choice, "json or text"),
        .value("level", \.level, .choice, "the least important messages that are written"),
        .value("access", \.access, .flag, "whether every request gets a line"),
    ]
}

extension Config.Limits: PlainBlock {
    static let keys: [BlockKey<Config.Limits>] = [
        .value("connections", \.connections, .positive, "open connections of clients"),
        .value("requests_in_flight", \.requestsInFlight, .positive, "requests at work or held"),
        .value("buffered_bytes", \.bufferedBytes, .size, "bodies in memory; beyond it 503"),
        .value("header_bytes", \.headerBytes, .size, "all header lines of a request; else 431"),
        .value("header_count", \.headerCount, .positive, "header lines of a request; else 431"),
        .value("uri_bytes", \.uriBytes, .size, "the request's target; else 414"),
        .value("header_timeout", \.headerTimeout, .duration, "for a client to send its headers"),
        .value("body_timeout", \.bodyTimeout, .duration, "for a client to send its body"),
        .value("idle_timeout", \.idleTimeout, .duration, "between two requests of a connection"),
    ]
}

extension Config.Drain: PlainBlock {
    static let keys: [BlockKey<Config.Drain>] = [
        .value(
            "delay", \.delay, .duration(allowsZero: true),
            "how long /readyz says no before connections are refused"),
        .value(
            "timeout", \.timeout, .duration(allowsZero: true),
            "how long running requests may take to end"),
    ]
}

extension Config.Defaults: PlainBlock {
    static let keys: [BlockKey<Config.Defaults>] = [
        .value("deadline", \.deadline, .duration, "limit on a whole request"),
        .value("timeout", \.timeout, .duration, "limit on one call"),
        .value("connect_timeout", \.connectTimeout, .duration, "limit on connecting to a backend"),
        .value("max_body", \.maxBody, .size, "of a client's request, and of each backend's answer"),
        .value("report", \.report, .choice, "where an answer says what failed"),
        .value("expose", \.expose, .choice, "what an answer says about a failure"),
        .value("partial_status", \.partialStatus, .partialStatus, "the status of a partial answer"),
    ]
}

extension Reading where Value == Int {
    /// A success that has a body.
    static var partialStatus: Reading {
        let words = "must be a status from 200 to 299 that has a body, such as 200 or 207"
        return .scalar(.integer(200...299), expected: words) { scalar throws(Refusal) in
            guard case .integer(let status?) = scalar.type, (200...299).contains(status),
                status != 204, status != 205
            else { throw Refusal(words) }
            return status
        }
    }
}
