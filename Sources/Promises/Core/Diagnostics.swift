import Synchronization

/// Something that went wrong and that no handler was told of.
public enum PromiseEvent: Sendable {
    /// A producer went away without settling. With the place where it was made, if sites are kept.
    case abandoned(StaticString, UInt)
    /// A rejected promise went away and nobody had ever attached to it.
    case unhandledRejection(any Error)
    /// A shared resolver was used after another had settled.
    case resolvedTwice
    /// An error was silenced on purpose.
    case cauterized(any Error)
}

/// Who hears of promise events. Off until a handler is set, and never on the hot path.
public enum PromiseDiagnostics {
    private struct State {
        var handler: (@Sendable (PromiseEvent) -> Void)?
        var sites: [ObjectIdentifier: (StaticString, UInt)] = [:]
    }

    private static let state = Guarded(State())
    private static let keepsSites = Atomic(false)

    /// Sets who hears of events, or nobody; gives who heard of them before.
    ///
    /// - Parameter keepingCreationSites: whether to remember where pending promises were made.
    @discardableResult
    public static func setHandler(
        keepingCreationSites: Bool = false, _ handler: (@Sendable (PromiseEvent) -> Void)?
    ) -> (@Sendable (PromiseEvent) -> Void)? {
        keepsSites.store(keepingCreationSites, ordering: .relaxed)
        return state.withLock {
            let former = $0.handler
            $0.handler = handler
            if !keepingCreationSites { $0.sites = [:] }
            return former
        }
    }

    @usableFromInline
    static func report(_ event: PromiseEvent) {
        state.withLock { $0.handler }?(event)
    }

    @usableFromInline
    static func noteCreation(of node: Node, _ file: StaticString, _ line: UInt) {
        guard keepsSites.load(ordering: .relaxed) else { return }
        state.withLock { $0.sites[ObjectIdentifier(node.object)] = (file, line) }
    }

    static func reportAbandoned(_ node: Node) {
        let site = state.withLock { $0.sites.removeValue(forKey: ObjectIdentifier(node.object)) }
        report(.abandoned(site?.0 ?? "unknown", site?.1 ?? 0))
    }
}

extension Node {
    func reportUnhandled() {
        if error.isCancellation { return }
        PromiseDiagnostics.report(.unhandledRejection(error))
    }
}
