import Basics
import HTTP

/// The methods of one path, each with its endpoint.
struct RouteMethods {
    private var entries: [(method: Method, endpoint: Int)] = []
    /// The endpoint of each method by its `slot`, -1 without one. A search of `entries` would copy them
    /// and call the comparison of the other module.
    private var slots = InlineArray<7, Int>(repeating: -1)
    /// The endpoint of `ANY`.
    private var others: Int?

    /// The value of `Allow` (RFC 9110 section 10.2.1): in file order, HEAD after GET.
    private(set) var allow: FieldValue = ""

    var isEmpty: Bool { entries.isEmpty && others == nil }

    /// Inlined, so that the methods are not copied.
    @inline(__always)
    func endpoint(for method: Method) -> Int? {
        switch method {
        // Neither concerns the resource: one connects to a host, one shows the request's own path.
        case .connect, .trace: nil
        case .head: endpoint(named: .head) ?? endpoint(named: .get) ?? others
        default: endpoint(named: method) ?? others
        }
    }

    @inline(__always)
    private func endpoint(named method: Method) -> Int? {
        guard let slot = method.slot, slots[slot] >= 0 else { return nil }
        return slots[slot]
    }

    /// The first endpoint keeps its method.
    mutating func add(_ method: Config.Method, endpoint: Int) {
        if let method = Method(named: method) { return addNamed(method, endpoint: endpoint) }
        if others == nil { others = endpoint }
        updateAllow()
    }

    /// The first endpoint keeps its method.
    mutating func addNamed(_ method: Method, endpoint: Int) {
        guard let slot = method.slot, slots[slot] < 0 else { return }
        slots[slot] = endpoint
        entries.append((method, endpoint))
        updateAllow()
    }

    private mutating func updateAllow() {
        // Method names are tokens, so they always form a valid field value.
        allow = FieldValue(names.joined(separator: ", ")) ?? ""
    }

    /// The methods of two paths that match the same request.
    static func + (left: RouteMethods, right: RouteMethods) -> RouteMethods {
        var sum = RouteMethods()
        for entry in (left.entries + right.entries).sorted(by: { $0.endpoint < $1.endpoint }) {
            sum.addNamed(entry.method, endpoint: entry.endpoint)
        }
        if let others = left.others ?? right.others { sum.add(.any, endpoint: others) }
        return sum
    }

    private var names: [String] {
        let written = entries.map(\.method)
        let names = written.flatMap { method in
            method == .get && !written.contains(.head) ? ["GET", "HEAD"] : ["\(method)"]
        }
        guard others != nil else { return names }
        return names + Self.usual.map(\.description).filter { !names.contains($0) }
    }

    /// The methods that `Allow` lists for `ANY`.
    private static let usual: [Method] = [.get, .head, .post, .put, .patch, .delete, .options]
}

extension Method {
    /// Its place among the methods that a route can have; nil for others.
    fileprivate var slot: Int? {
        switch self {
        case .get: 0
        case .head: 1
        case .post: 2
        case .put: 3
        case .patch: 4
        case .delete: 5
        case .options: 6
        case .trace, .connect, .other: nil
        }
    }

    /// Nil for `ANY`.
    init?(named method: Config.Method) {
        switch method {
        case .get: self = .get
        case .post: self = .post
        case .put: self = .put
        case .patch: self = .patch
        case .delete: self = .delete
        case .head: self = .head
        case .options: self = .options
        case .any: return nil
        }
    }

    /// The method of a call, which is not `ANY`.
    init(_ method: Config.Method) { self = Method(named: method) ?? .get }
}
