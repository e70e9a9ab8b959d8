import Rehearsal

struct DrawnCall {
    var index: Int
    var backend: Int
    var method: String
    var uses: [DrawnUse]
    /// Calls that it waits for without the use of their values.
    var after: [Int]
    var when: DrawnCondition?
    /// The keys that do not depend on other parts of the configuration.
    var keys: Tree

    var name: String { "c\(index)" }
    var sendsBody: Bool { keys["body"] != nil }
    var forwardHeaders: [String]? { keys["forward"]?[texts: "headers"] }
    var isRequired: Bool { keys["required"] != nil }
    var timeout: Int? { keys[number: "timeout"] }
    var relaysBody: Bool { keys["relay_body"] != nil }
    var retry: DrawnRetry? { keys["retry"].map(DrawnRetry.init) }
    var hedgeAfter: Int? { keys["hedge"]?[number: "after"] }
    var shape: DrawnShape { DrawnShape(keys) }
    var place: DrawnPlace { DrawnPlace(keys["at"]?.plain, name: name) }
    var failsOnCollision: Bool { keys["on_collision"] != nil }
    /// Whether it makes a request for each element of a list of the client.
    var hasList: Bool { keys["each"] != nil }
    /// Sends its own `X-Shared` instead of the endpoint's.
    var replacesSharedHeader: Bool { keys["headers"] != nil }

    enum IfFailed: Equatable {
        case omit
        case value(String)
    }

    var ifFailed: IfFailed? {
        keys["if_failed"].map { $0 == .scalar("omit") ? .omit : .value($0.written) }
    }

    var isIdempotent: Bool { method != "POST" && method != "PATCH" }

    /// The calls that it waits for.
    var waitsFor: [Int] {
        after
            + uses.compactMap { if case .call(let index, _) = $0.source { index } else { nil } }
            + (when?.calls ?? [])
    }

    func accepts(_ status: Int) -> Bool { lists(status, "accept") ?? (200...299).contains(status) }

    func relays(_ status: Int) -> Bool {
        lists(status, "relay_status") ?? (!hasList && [404, 410].contains(status))
    }

    /// Whether a key lists a status, alone or in a range such as `200-299`; nil if it is not written.
    private func lists(_ status: Int, _ key: String) -> Bool? {
        keys[key]?.elements?.contains { element in
            let ends = element.plain.split(separator: "-").compactMap { Int($0) }
            return ends[0] <= status && status <= ends[ends.count - 1]
        }
    }

    // MARK: Text

    func tree(of endpoint: DrawnEndpoint, _ config: DrawnConfig) -> Tree {
        var tree = Tree.members([
            "from": .scalar(config.backends[backend].name),
            method.lowercased(): .text(target(of: endpoint, config, \.written)),
        ])
        var headers = endpoint.isProtected ? Tree.callerHeader : .block
        for (index, use) in uses.enumerated() where use.place == .header {
            headers.set("X-U\(index)", .text(use.written))
        }
        headers = .object(headers.members + (keys["headers"]?.members ?? []))
        if !after.isEmpty { tree.set("after", .list(after.map { endpoint.calls[$0].name })) }
        tree = .object(tree.members + keys.members)
        tree.set("headers", headers == .block ? nil : headers)
        return tree.setting("when", when?.tree)
    }

    /// The first segment of the path identifies generation, endpoint and call; the values that the
    /// call uses follow, in order.
    func target(
        of endpoint: DrawnEndpoint, _ config: DrawnConfig, _ value: (DrawnUse) -> String
    ) -> String {
        var path = "/" + key(of: endpoint, config)
        var query: [String] = []
        for (index, use) in uses.enumerated() {
            switch use.place {
            case .path: path += "/" + value(use)
            case .query: query.append("u\(index)=" + value(use))
            case .header: break
            }
        }
        if hasList { query.append("\(DrawnUse.element)={\(DrawnUse.element)}") }
        return path + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }

    func key(of endpoint: DrawnEndpoint, _ config: DrawnConfig) -> String {
        "g\(config.generation)e\(endpoint.index)c\(index)"
    }
}

/// `at:`
enum DrawnPlace: Equatable {
    case root
    case none
    /// Under these keys; without `at`, under the call's name.
    case member([String])
    case array([String])

    init(_ text: String?, name: String) {
        switch text {
        case nil: self = .member([name])
        case ".": self = .root
        case "none": self = .none
        case let text?:
            let keys = text.replacing("[]", with: "").split(separator: ".").map(String.init)
            self = text.hasSuffix("[]") ? .array(keys) : .member(keys)
        }
    }

    /// The member of the root that it is in; nil for none, and for all.
    var firstKey: String? {
        switch self {
        case .member(let keys), .array(let keys): keys.first
        case .root, .none: nil
        }
    }
}

extension Tree {
    static let callerHeader = Tree.members(["X-Caller": .text("{request.caller}")])
}

/// `retry:`
struct DrawnRetry {
    let keys: Tree

    var attempts: Int { keys[number: "attempts"] ?? 1 }

    func repeats(_ condition: String) -> Bool {
        (keys["on"] == nil ? ["connect", "terminated"] : keys[texts: "on"]).contains(condition)
    }

    static func weight(_ weight: Double, attempts: ClosedRange<Int>) -> KeyWeight {
        .block(
            "retry", weight,
            [
                .key("attempts", 1, attempts),
                .key("on", 0.5, of: ["[connect]", "[terminated, 503]", "[connect, 500, 503]"]),
                .key("backoff", 1, 0...20),
            ])
    }
}

/// A `{...}` reference in a call.
struct DrawnUse {
    enum Source: Equatable {
        case param(String)
        case header(String)
        /// Only in conditions, as the client and the caller.
        case query(String)
        case client
        case caller
        case bodyField(String)
        case call(Int, path: String)
    }

    enum Place { case path, query, header }

    /// The query parameter of clients that has a list, and the name of its elements.
    static let list = "ids"
    static let element = "each"

    var source: Source
    var place: Place
    /// `{name?}`: an absent value is omitted.
    var isOptional = false

    var written: String { "{\(source.written)\(isOptional ? "?" : "")}" }
}

extension DrawnUse.Source {
    /// `c0.nest.a`, `request.header.X-User`
    var written: String {
        switch self {
        case .param(let name): name
        case .header(let name): "request.header.\(name)"
        case .query(let name): "request.query.\(name)"
        case .client: "request.client"
        case .caller: "request.caller"
        case .bodyField(let name): "request.body.\(name)"
        case .call(let index, let path): "c\(index).\(path)"
        }
    }
}
