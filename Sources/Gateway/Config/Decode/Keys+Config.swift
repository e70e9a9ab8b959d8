import HTTP
import YAMLReader

/// The keys of the configuration file and of its top-level blocks.
extension Config: PlainBlock {
    static let keys: [BlockKey<Config>] =
        [
            .init(
                "$schema", .text(format: .text),
                "URL of the JSON Schema, for editors; ignored by the gateway"
            ) { _, _, _ in },
            .value(
                "version", \.version, .count(1...1), isRequired: true,
                "version of the configuration language: 1"),
            .list(
                "listen", \.listen, .listeners,
                default: .text("\(PlanDefaults.listenHost):\(PlanDefaults.listenPort)"),
                "address for clients, a block with one, or a list of them: host:port, \"[v6]:port\" or"
                    + " unix:/path"),
            .address(
                "admin", \.admin,
                "address of the admin pages, e.g. /readyz and /metrics; none if absent; keep it private"
            ),
            .value(
                "workers", \.workers, .workers, default: .text("auto"),
                "number of workers (event loops); auto is one per processor"),
            .block("limits", \.limits, "limits of one process on connections, requests and memory"),
            .block("drain", \.drain, "graceful shutdown: how requests in flight are finished"),
            .block(
                "defaults", \.defaults, "values for endpoints and calls that do not set them"),
            .list(
                "include", \.include, .oneOrMany(of: .text),
                "files with more endpoints and backends, e.g. endpoints/*.yaml"),
        ] + Features.keys(\.root) + sharedKeys

    /// The keys of an included file.
    fileprivate static let sharedKeys: [BlockKey<Config>] = [
        .list("backends", \.backends, .named(), "services that calls are sent to, by name"),
        .list(
            "endpoints", \.endpoints, .blocks(titled: Config.Endpoint.title),
            "routes that clients call"),
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
                    "belongs into the main file; an included file has only endpoints and"
                        + " backends")
            }
        }
    }
}

extension Config.Limits: PlainBlock {
    static let keys: [BlockKey<Config.Limits>] = [
        .value(
            "connections", \.connections, .positive,
            default: .number(PlanDefaults.server.connections),
            "maximum number of client connections"),
        .value(
            "connections_per_client", \.connectionsPerClient, .positive,
            "maximum number of connections from one IPv4 address or IPv6 /64 network"),
        .value(
            "requests_in_flight", \.requestsInFlight, .positive,
            default: .number(PlanDefaults.server.requestsInFlight),
            "maximum number of requests in flight; else 503"),
        .value(
            "requests_per_client", \.requestsPerClient, .positive,
            default: .description("a quarter of requests_in_flight, at least 100"),
            "maximum number of requests in flight of one IPv4 address or IPv6 /64 network; else 503"
        ),
        .value(
            "streams", \.streams, .positive, default: .number(PlanDefaults.server.streams),
            "maximum number of streamed responses, after their heads; else 503"),
        .value(
            "streams_per_connection", \.streamsPerConnection, .positive,
            default: .number(PlanDefaults.server.streamsPerConnection),
            "maximum number of concurrent requests on an HTTP/2 connection"),
        .value(
            "handshakes", \.handshakes, .positive,
            default: .number(PlanDefaults.server.handshakes),
            "maximum number of TLS handshakes in progress; further connections wait"),
        .value(
            "buffered_bytes", \.bufferedBytes, .size(upTo: SizeLimits.buffers),
            default: .size(PlanDefaults.server.bufferedBytes),
            "maximum memory for requests, responses and connections; else 503"),
        .value(
            "header_bytes", \.headerBytes, .size(upTo: SizeLimits.head),
            default: .size(PlanDefaults.server.limits.headerBytes),
            "maximum size of the header lines of a request; else 431"),
        .value(
            "header_count", \.headerCount, .positive,
            default: .number(PlanDefaults.server.limits.headerCount),
            "maximum number of header lines of a request; else 431"),
        .value(
            "uri_bytes", \.uriBytes, .size(upTo: Limits.fieldBytesMax),
            default: .size(PlanDefaults.server.limits.uriBytes),
            "maximum length of the request target; else 414"),
        .value(
            "header_timeout", \.headerTimeout, .duration,
            default: .time(PlanDefaults.server.limits.headerTimeout),
            "time limit for a client to send its headers; else 408"),
        .value(
            "body_timeout", \.bodyTimeout, .duration,
            default: .time(PlanDefaults.server.limits.bodyTimeout),
            "time limit for a client to send its body; else 408"),
        .value(
            "write_timeout", \.writeTimeout, .duration,
            default: .time(PlanDefaults.server.limits.writeTimeout),
            "time after which a client that does not read its response is disconnected"),
        .value(
            "idle_timeout", \.idleTimeout, .duration,
            default: .time(PlanDefaults.server.limits.idleTimeout),
            "how long a connection may be idle between requests"),
    ]
}

extension Config.Drain: PlainBlock {
    static let keys: [BlockKey<Config.Drain>] = [
        .value(
            "delay", \.delay, .duration(allowsZero: true), default: .text("0s"),
            "how long /readyz reports 503 before new connections are refused"),
        .value(
            "timeout", \.timeout, .duration(allowsZero: true),
            default: .time(PlanDefaults.drainTimeout),
            "time limit for finishing the requests in flight"),
    ]
}

extension Config.Defaults: PlainBlock {
    static let keys: [BlockKey<Config.Defaults>] = coreKeys + Features.keys(\.defaults)

    private static let coreKeys: [BlockKey<Config.Defaults>] = [
        .value(
            "connect_timeout", \.connectTimeout, .duration,
            default: .time(PlanDefaults.connectTimeout),
            "time limit for opening a connection to a backend"),
        .value(
            "max_body", \.maxBody, .size(upTo: SizeLimits.body),
            default: .size(PlanDefaults.bodyMax),
            "maximum body size of a client's request and of each backend response"),
        .value(
            "report", \.report, .choice, default: .choice(PlanDefaults.report),
            "where a response reports failed calls"),
        .value(
            "expose", \.expose, .choice, default: .choice(PlanDefaults.expose),
            "what a response reveals about a failure"),
        .value(
            "partial_status", \.partialStatus, .partialStatus,
            default: .number(PlanDefaults.partialStatus),
            "status of a partial response"),
    ]
}

extension ValueReader where Value == Int {
    /// A success that has a body.
    static var partialStatus: ValueReader {
        let message = "must be a status from 200 to 299 that has a body, such as 200 or 207"
        return .scalar(.integer(200...299), expected: message) { scalar throws(Refusal) in
            guard case .integer(let status?) = scalar.type, (200...299).contains(status),
                status != 204, status != 205
            else { throw Refusal(.init(fixed: message)) }
            return status
        }
    }
}
