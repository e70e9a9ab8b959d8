import Synchronization

/// Reports promise events to a handler. Off until a handler is set, and never on the hot path.
public enum PromiseDiagnostics {
    private static let handler = Guarded<(@Sendable (PromiseEvent) -> Void)?>(nil)
    private static let sites = Guarded<[ObjectIdentifier: CreationSite]>([:])
    private static let keepsSites = Atomic(false)

    /// Sets the handler of events, or none; returns the former handler.
    ///
    /// The handler is called at once, on the thread on which the event happened, possibly while a
    /// promise is being freed: it should record the event and return. No lock is held meanwhile, so
    /// it may use promises itself.
    ///
    /// - Parameters:
    ///   - keepingCreationSites: whether to remember, from now on, where pending promises are made.
    ///     Costs a lock and a table entry for each promise.
    ///   - handler: receives events; nil for none.
    @discardableResult
    public static func setHandler(
        keepingCreationSites: Bool = false, _ handler: (@Sendable (PromiseEvent) -> Void)?
    ) -> (@Sendable (PromiseEvent) -> Void)? {
        keepsSites.store(keepingCreationSites, ordering: .relaxed)
        return self.handler.withLock { current in
            let former = current
            current = handler
            return former
        }
    }

    @usableFromInline
    static func report(_ event: PromiseEvent) {
        handler.withLock { $0 }?(event)
    }

    // MARK: Creation sites.

    @usableFromInline
    static func recordCreation(of node: Node, _ file: StaticString, _ line: UInt) {
        guard keepsSites.load(ordering: .relaxed) else { return }
        keep(CreationSite(file: file, line: line), for: node)
    }

    /// A link began where its chain began.
    @usableFromInline
    static func recordCreationSite(of child: Node, asChildOf parent: Node) {
        if let site = site(of: parent) { keep(site, for: child) }
    }

    static func name(_ node: Node, _ label: String, _ file: StaticString, _ line: UInt) {
        guard keepsSites.load(ordering: .relaxed) else { return }
        var site = site(of: node) ?? CreationSite(file: file, line: line)
        site.label = label
        keep(site, for: node)
    }

    static func site(of node: Node) -> CreationSite? {
        guard node.hasCreationSite else { return nil }
        return sites.withLock { $0[ObjectIdentifier(node.object)] }
    }

    /// The node is being freed, and its address will be another's.
    static func forget(_ node: ObjectIdentifier) {
        _ = sites.withLock { $0.removeValue(forKey: node) }
    }

    private static func keep(_ site: CreationSite, for node: Node) {
        _ = node.claim.insert(Claim.hasCreationSite)
        sites.withLock { $0[ObjectIdentifier(node.object)] = site }
    }
}

extension Node {
    func reportUnhandled() {
        let error = error
        if error.isCancellation || error as? PromiseError == .abandoned { return }
        PromiseDiagnostics.report(
            .unhandledRejection(error, at: PromiseDiagnostics.site(of: self)))
    }
}
