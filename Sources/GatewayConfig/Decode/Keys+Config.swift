import HTTP
import YAMLReader

extension Config: PlainBlock {
    static let keys: [BlockKey<Config>] =
        [
            .init("$schema", .text(format: .text), "for editors; not used") { _, _, _ in },
            .value(
                "version", \.version, .count(1...1), isRequired: true,
                "the version of this language: 1"),
            .address(
                "listen", \.listen,
                default: .text("\(PlanDefaults.listenHost):\(PlanDefaults.listenPort)"),
                "where clients connect: host:port, \"[v6]:port\" or unix:/path"),
            .address(
                "admin", \.admin,
                "where /livez, /readyz and /metrics are served; off when absent; keep it private"),
            .value(
                "workers", \.workers, .workers, default: .text("auto"),
                "event loops; auto is one for each processor"
            ),
            .block("log", \.log, "what is logged, and how"),
            .block("limits", \.limits, "what one process takes in"),
            .block("drain", \.drain, "how a stop waits for running requests"),
            .block("clients", \.clients, "how the client's address is found"),
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

    init(location: SourceLocation) {
        config = Config(location: location)
    }

    static let keys: [BlockKey<IncludedConfig>] = Config.keys.map { key in
        let isShared = Config.sharedKeys.contains { $0.name == key.name }
        return BlockKey(
            key.name, key.schema.value, default: key.schema.fallback, key.schema.doc
        ) { member, block, decoder in
            if isShared {
                key.decode(member, &block.config, &decoder)
            } else {
                decoder.fail(
                    member.keyLocation,
                    "belongs into the main file; an included one has endpoints and"
                        + " backends")
            }
        }
    }
}

extension Config.Log: PlainBlock {
    static let keys: [BlockKey<Config.Log>] = [
        .value(
            "format", \.format, .choice, default: .choice(PlanDefaults.logFormat), "json or text"),
        .value(
            "level", \.level, .choice, default: .choice(PlanDefaults.logLevel),
            "the least important messages that are written"),
        .value(
            "access", \.access, .flag, default: .flag(PlanDefaults.logAccess),
            "whether every request gets a line"),
    ]
}

extension Config.Limits: PlainBlock {
    static let keys: [BlockKey<Config.Limits>] = [
        .value(
            "connections", \.connections, .positive,
            default: .number(PlanDefaults.server.connections),
            "open connections of clients"),
        .value(
            "connections_per_client", \.connectionsPerClient, .positive,
            "open connections of one client address, or one IPv6 /64 network"),
        .value(
            "requests_in_flight", \.requestsInFlight, .positive,
            default: .number(PlanDefaults.server.requestsInFlight), "requests at work or held"),
        .value(
            "buffered_bytes", \.bufferedBytes, .size(upTo: SizeLimits.buffers),
            default: .size(PlanDefaults.server.bufferedBytes),
            "bodies in memory; beyond it 503"),
        .value(
            "header_bytes", \.headerBytes, .size(upTo: SizeLimits.head),
            default: .size(PlanDefaults.server.limits.headerBytes),
            "all header lines of a request; else 431"),
        .value(
            "header_count", \.headerCount, .positive,
            default: .number(PlanDefaults.server.limits.headerCount),
            "header lines of a request; else 431"),
        .value(
            "uri_bytes", \.uriBytes, .size(upTo: SizeLimits.head),
            default: .size(PlanDefaults.server.limits.uriBytes),
            "the request's target; else 414"),
        .value(
            "header_timeout", \.headerTimeout, .duration,
            default: .time(PlanDefaults.server.limits.headerTimeout),
            "for a client to send its headers; else 408"
        ),
        .value(
            "body_timeout", \.bodyTimeout, .duration,
            default: .time(PlanDefaults.server.limits.bodyTimeout),
            "for a client to send its body; else 408"),
        .value(
            "write_timeout", \.writeTimeout, .duration,
            default: .time(PlanDefaults.server.limits.writeTimeout),
            "for a client to read of its response; else closed"),
        .value(
            "idle_timeout", \.idleTimeout, .duration,
            default: .time(PlanDefaults.server.limits.idleTimeout),
            "between two requests of a connection"),
    ]
}

extension Config.Drain: PlainBlock {
    static let keys: [BlockKey<Config.Drain>] = [
        .value(
            "delay", \.delay, .duration(allowsZero: true), default: .text("0s"),
            "how long /readyz says no before connections are refused"),
        .value(
            "timeout", \.timeout, .duration(allowsZero: true),
            default: .time(PlanDefaults.drainTimeout),
            "how long running requests may take to end"),
    ]
}

extension Config.Clients: PlainBlock {
    static let keys: [BlockKey<Config.Clients>] = [
        .list(
            "trusted_proxies", \.trustedProxies, .list(of: .proxy),
            "peers whose forwarding headers are trusted: networks, addresses, or unix"),
        .value(
            "address_from", \.addressFrom, .choice,
            default: .choice(PlanDefaults.addressFrom),
            "the header that these proxies maintain; forwarded is RFC 7239"),
    ]
}

extension Reading where Value == Config.Clients.Proxy {
    static var proxy: Reading {
        let words = "must be a network such as 10.0.0.0/8, an address, or unix"
        let schema = ValueSchema.either([.choice(["unix"]), .text(format: .network)])
        return .scalar(schema, expected: words) { scalar throws(Refusal) in
            if scalar.text == "unix" { return .unix }
            do throws(AddressPrefix.Fault) {
                return .network(try AddressPrefix(scalar.text))
            } catch {
                switch error {
                case .syntax: throw Refusal(.init(fixed: words))
                case .bitsBehindPrefix(let meant):
                    throw Refusal(
                        "must have no bits behind its prefix" + .hint(" - did you mean \(meant)?"))
                }
            }
        }
    }
}

extension Config.Defaults: PlainBlock {
    static let keys: [BlockKey<Config.Defaults>] = [
        .value(
            "deadline", \.deadline, .duration, default: .time(PlanDefaults.deadline),
            "limit on a whole request"),
        .value(
            "timeout", \.timeout, .duration, default: .time(PlanDefaults.timeout),
            "limit on one call"),
        .value(
            "connect_timeout", \.connectTimeout, .duration,
            default: .time(PlanDefaults.connectTimeout), "limit on connecting to a backend"),
        .value(
            "max_body", \.maxBody, .size(upTo: SizeLimits.body),
            default: .size(PlanDefaults.bodyMax),
            "of a client's request, and of each backend's answer"),
        .value(
            "report", \.report, .choice, default: .choice(PlanDefaults.report),
            "where an answer says what failed"),
        .value(
            "expose", \.expose, .choice, default: .choice(PlanDefaults.expose),
            "what an answer says about a failure"),
        .value(
            "partial_status", \.partialStatus, .partialStatus,
            default: .number(PlanDefaults.partialStatus),
            "the status of a partial answer"),
    ]
}

extension Reading where Value == Int {
    /// A success that has a body.
    static var partialStatus: Reading {
        let words = "must be a status from 200 to 299 that has a body, such as 200 or 207"
        return .scalar(.integer(200...299), expected: words) { scalar throws(Refusal) in
            guard case .integer(let status?) = scalar.type, (200...299).contains(status),
                status != 204, status != 205
            else { throw Refusal(.init(fixed: words)) }
            return status
        }
    }
}
