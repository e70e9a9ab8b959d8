import Foundation
import Gateway
import Reactor
import TestSupport
import Testing
import WorkerSupport

/// Every number of the configuration, at the limits of the accepted range: what `check` accepts
/// can be served; everything else is an error with a plain message.
@Suite struct NumericBoundsTests {
    private typealias Object = [String: Any]

    private static var schema: Object {
        let json = try? JSONSerialization.jsonObject(with: Data(ConfigSchema.text.utf8))
        return json as? Object ?? [:]
    }

    /// A configuration with every numeric block, as JSON.
    private static var base: Object {
        [
            "version": 1, "workers": 1,
            "listen": [
                "127.0.0.1:8080",
                [
                    "address": "127.0.0.1:8443",
                    "tls": ["cert": "server.pem", "key": "server.key"] as Object,
                ] as Object,
            ] as [Any],
            "traces": ["otlp": "http://127.0.0.1:4318/v1/traces"] as Object,
            "store": ["url": "redis://127.0.0.1:6379"] as Object,
            "auth": [
                "t": [
                    "jwt": [
                        "issuer": "a", "audience": "b",
                        "keys": ["from": "a", "get": "/keys"] as Object,
                    ] as Object
                ] as Object
            ] as Object,
            "limits": [:] as Object, "drain": [:] as Object, "defaults": [:] as Object,
            "clients": [:] as Object, "rate_limits": ["r": ["rate": "1/s"] as Object] as Object,
            "backends": [
                "a": [
                    "urls": ["http://127.0.0.1:7001", "http://127.0.0.1:7002"],
                    "max_concurrent": 5, "queue": ["size": 1] as Object, "breaker": [:] as Object,
                    "eject": [:] as Object, "health": ["path": "/h"] as Object,
                    "keepalive": [:] as Object,
                ] as Object,
                "h": [
                    "url": "http://127.0.0.1:7010", "protocol": "http2", "http2": [:] as Object,
                ] as Object,
            ] as Object,
            "endpoints": [
                [
                    "route": "POST /x", "auth": "none",
                    "rate_limits": [["limit": "r"] as Object],
                    "cors": ["origins": ["https://a.example"]] as Object,
                    "params": ["n": ["type": "integer"] as Object, "s": [:] as Object] as Object,
                    "body": [
                        "properties": [
                            "n": ["type": "number"] as Object, "s": ["type": "string"] as Object,
                        ]
                            as Object
                    ] as Object,
                    "calls": [
                        "one": [
                            "from": "a", "put": "/1", "retry": ["on": [503]] as Object,
                            "hedge": ["after": "1ms"] as Object,
                        ] as Object,
                        "list": [
                            "from": "a", "get": "/l?e={e,}",
                            "each": [
                                "in": "{request.body.ids[]}", "as": "e", "max": 5, "batch": 2,
                                "match": ["a": "{e}"] as Object,
                            ] as Object,
                        ] as Object,
                    ] as Object,
                ] as Object,
                [
                    "route": "POST /p", "auth": "none", "proxy": ["to": "a"] as Object,
                ] as Object,
                [
                    "route": "POST /h", "auth": "none", "proxy": ["to": "h"] as Object,
                ] as Object,
                ["route": "GET /r", "auth": "none", "respond": [:] as Object] as Object,
            ],
        ]
    }

    /// The path of each block of the schema in the base.
    private static let blocks: [(definition: String?, path: [String])] = [
        (nil, []), ("Traces", ["traces"]), ("Store", ["store"]), ("Limits", ["limits"]),
        ("ListenTLS", ["listen", "1", "tls"]),
        ("Drain", ["drain"]),
        ("Defaults", ["defaults"]), ("JWT", ["auth", "t", "jwt"]),
        ("TokenKeys", ["auth", "t", "jwt", "keys"]), ("Clients", ["clients"]),
        ("RateLimit", ["rate_limits", "r"]), ("LimitUse", ["endpoints", "0", "rate_limits", "0"]),
        ("Backend", ["backends", "a"]), ("Queue", ["backends", "a", "queue"]),
        ("Breaker", ["backends", "a", "breaker"]), ("Eject", ["backends", "a", "eject"]),
        ("Health", ["backends", "a", "health"]), ("Keepalive", ["backends", "a", "keepalive"]),
        ("HTTP2", ["backends", "h", "http2"]),
        ("Endpoint", ["endpoints", "0"]), ("CORS", ["endpoints", "0", "cors"]),
        ("Param", ["endpoints", "0", "params", "n"]),
        ("Param", ["endpoints", "0", "params", "s"]), ("Body", ["endpoints", "0", "body"]),
        ("Property", ["endpoints", "0", "body", "properties", "n"]),
        ("Property", ["endpoints", "0", "body", "properties", "s"]),
        ("Call", ["endpoints", "0", "calls", "one"]),
        ("Retry", ["endpoints", "0", "calls", "one", "retry"]),
        ("Hedge", ["endpoints", "0", "calls", "one", "hedge"]),
        ("Each", ["endpoints", "0", "calls", "list", "each"]),
        ("Proxy", ["endpoints", "1", "proxy"]), ("Respond", ["endpoints", "3", "respond"]),
    ]

    /// The kind of number that a key takes; nil for a key that takes none.
    private enum Kind: Sendable { case integer, number, time, size, share }

    private static func kind(_ schema: Object) -> Kind? {
        let forms = (schema["anyOf"] as? [Object] ?? []) + [schema]
        for form in forms.flatMap({ ($0["anyOf"] as? [Object] ?? []) + [$0] }) {
            switch form["type"] as? String {
            case "integer": return .integer
            case "number": return .number
            case "string":
                guard let pattern = form["pattern"] as? String else { continue }
                if pattern.contains("(ms|") { return .time }
                if pattern.contains("KiB") { return .size }
                if pattern.contains("%$") { return .share }
            default: continue
            }
        }
        return nil
    }

    private static func values(_ kind: Kind) -> [Any] {
        let numbers = [
            "0", "1", "64", "200", "-1", "0.5", "1e3", "1000000", "1000001", "4294967295",
            "1073741824", "2147483647", "2147483648", "9223372036854775807", "18446744073709551616",
            "-9223372036854775808", "1e400",
        ]
        switch kind {
        case .integer, .number: return numbers.map(Spelled.init)
        case .time:
            return numbers.map { $0 + "ms" } + numbers.map { $0 + "h" }
                + ["30s", "8784h", "8785h", "31622400s", "0.001ms", "0s"]
        case .size:
            return numbers.map { $0 + "B" } + numbers.map { $0 + "GiB" }
                + ["1024GiB", "1025GiB", "1GiB", "16MiB", "0.5B"]
        case .share: return numbers.map { $0 + "%" } + ["100%", "100.0001%", "0.00001%", "50%"]
        }
    }

    /// A number with its exact spelling.
    private struct Spelled { let text: String }

    private static func text(_ value: Any) -> String {
        switch value {
        case let number as Spelled: number.text
        case let object as Object:
            "{"
                + object.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\(text($0.value))" }
                .joined(separator: ",") + "}"
        case let list as [Any]: "[" + list.map(text).joined(separator: ",") + "]"
        case let number as Int: "\(number)"
        default: "\"\(value)\""
        }
    }

    private static func replacing(_ path: ArraySlice<String>, in node: Any, by value: Any) -> Any {
        guard let step = path.first else { return value }
        if var list = node as? [Any], let index = Int(step) {
            list[index] = replacing(path.dropFirst(), in: list[index], by: value)
            return list
        }
        var object = node as? Object ?? [:]
        object[step] = replacing(path.dropFirst(), in: object[step] ?? [:] as Object, by: value)
        return object
    }

    /// Every numeric key with its path in the base.
    private static let keys: [(path: [String], kind: Kind)] = {
        let schema = Self.schema
        let definitions = schema["$defs"] as? Object ?? [:]
        return blocks.flatMap { block in
            let definition = block.definition.map { definitions[$0] as? Object ?? [:] } ?? schema
            let properties = definition["properties"] as? [String: Object] ?? [:]
            return properties.sorted { $0.key < $1.key }.compactMap {
                key, schema -> (path: [String], kind: Kind)? in
                // Numbers have bounds, texts have lengths.
                if block.path.last == "n", key.hasSuffix("_length") { return nil }
                // Two versions, which YAML reads as numbers.
                if key == "min_version" { return nil }
                if block.path.last == "s", key == "min" || key == "max" { return nil }
                return kind(schema).map { (block.path + [key], $0) }
            }
        }
    }()

    /// Every block with a number is tested.
    @Test func everyBlockIsTested() throws {
        let definitions = try #require(Self.schema["$defs"] as? [String: Object])
        let walked = Set(Self.blocks.compactMap(\.definition))
        for (name, definition) in definitions where !walked.contains(name) && name != "variable" {
            let properties = definition["properties"] as? [String: Object] ?? [:]
            #expect(properties.values.allSatisfy { Self.kind($0) == nil }, "\(name)")
        }
        #expect(Self.keys.count > 45)
    }

    @Test(arguments: Self.keys.map { $0.path.joined(separator: ".") })
    func acceptedNumbersServe(_ name: String) throws {
        let key = try #require(Self.keys.first { $0.path.joined(separator: ".") == name })
        // A response that the value delays for a year is not awaited.
        let eventsMax = name.hasSuffix(".min_duration") ? 1000 : 100_000
        var accepted = 0
        for value in Self.values(key.kind) {
            let config = Self.text(Self.replacing(key.path[...], in: Self.base, by: value))
            let harness: GatewayHarness
            do {
                harness = try GatewayHarness(config: config)
            } catch let refused as GatewayHarness.Refused {
                #expect(refused.description.contains("c.yaml:1:"), "\(refused)")
                continue
            }
            accepted += 1
            harness.on("/1", .status(503), .ok("1"))
            let backend = try ScriptedH2Backend(
                on: harness.outside, at: .ip(.v4(0x7F00_0001), port: 7010)
            ) { $0.respond("1") }
            defer { backend.close() }
            for _ in 0..<3 {
                for request in [
                    post(#"{"n":1,"s":"a"}"#, to: "/x?n=1&s=a"), post("a", to: "/p"),
                    post("a", to: "/h"),
                ] {
                    _ = try? harness.fetch(request, eventsMax: eventsMax)
                }
            }
            harness.pass(2)
        }
        // The positive control: some of the values are valid.
        #expect(accepted > 0)
    }
}
