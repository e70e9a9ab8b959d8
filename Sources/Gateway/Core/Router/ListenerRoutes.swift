import Basics
import HTTP

/// The routes of one listener.
struct ListenerRoutes {
    /// Without the routes of other listeners.
    private let own: HostRoutes
    /// With them, after its own; nil if there are none.
    private let all: HostRoutes?
    /// The indices of the routes of other listeners.
    private let foreign: Set<Int>

    /// - Parameter name: nil for a listener that no route is restricted to
    init(_ name: String?, _ entries: [Router.Entry]) {
        let unrestricted = entries.filter { $0.listener == nil }
        let restricted = name == nil ? [] : entries.filter { $0.listener == name }
        let others = entries.filter { $0.listener != nil && $0.listener != name }
        own = HostRoutes(restricted + unrestricted)
        all = others.isEmpty ? nil : HostRoutes(restricted + unrestricted + others)
        foreign = Set(others.map(\.index))
    }

    var usesHosts: Bool { own.usesHosts }

    func match(_ method: Method, _ path: Bytes, _ authority: Bytes?) -> Router.Match {
        if let all, case .endpoint(let index) = all.match(method, path, authority),
            foreign.contains(index)
        {
            return .notFound
        }
        return own.match(method, path, authority)
    }
}
