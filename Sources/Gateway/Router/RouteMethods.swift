import Basics
import GatewayConfig
import HTTP

/// The methods of one path, each with its endpoint.
struct RouteMethods {
    private var entries: [(method: Method, endpoint: Int)] = []

    /// The value of `Allow` (RFC 9110 section 10.2.1): in file order, HEAD after GET.
    private(set) var allow: FieldValue = ""

    var isEmpty: Bool { entries.isEmpty }

    func endpoint(for method: Method) -> Int? {
        if let exact = entries.first(where: { $0.method == method }) { return exact.endpoint }
        return method == .head ? entries.first { $0.method == .get }?.endpoint : nil
    }

    /// The first endpoint keeps its method.
    mutating func add(_ method: Method, endpoint: Int) {
        if entries.contains(where: { $0.method == method }) { return }
        entries.append((method, endpoint))
        // Method names are tokens, so they always form a valid field value.
        allow = FieldValue(names.joined(separator: ", ")) ?? ""
    }

    /// The methods of two paths that match the same request.
    static func + (left: RouteMethods, right: RouteMethods) -> RouteMethods {
        var sum = RouteMethods()
        for entry in (left.entries + right.entries).sorted(by: { $0.endpoint < $1.endpoint }) {
            sum.add(entry.method, endpoint: entry.endpoint)
        }
        return sum
    }

    private var names: [String] {
        let written = entries.map(\.method)
        return written.flatMap { method in
            method == .get && !written.contains(.head) ? ["GET", "HEAD"] : ["\(method)"]
        }
    }
}

extension Method {
    init(_ method: Config.Method) {
        switch method {
        case .get: self = .get
        case .post: self = .post
        case .put: self = .put
        case .patch: self = .patch
        case .delete: self = .delete
        case .head: self = .head
        case .options: self = .options
        }
    }
}
