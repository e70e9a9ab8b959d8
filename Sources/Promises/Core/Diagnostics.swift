import Synchronization

/// Reports promise events to a handler. Inactive until a handler is set; never on the hot path.
public enum PromiseDiagnostics {
    private static let handler = Guarded<Handler?>(nil)
    private static let sites = Guarded<[ObjectIdentifier: CreationSite]>([:])
    private static let recordsSites = Atomic(false)

    /// In a struct: a closure that is read through a generic type is wrapped, and `withLock` writes it
    /// back, so that in a debug build each event would wrap it once more.
    private struct Handler {
        let call: @Sendable (PromiseEvent) -> Void
    }

    /// Sets the handler of events, or none; returns the former handler.
    ///
    /// The handler runs at once, on the thread of the event, possibly while a promise is being
    /// freed: it should record the event and return. No lock is held meanwhile, so the handler may
    /// use promises.
    ///
    /// - Parameters:
    ///   - keepingCreationSites: whether to record, from now on, where pending promises are made.
    ///     Costs a lock and a table entry for each promise.
    ///   - handler: receives events; nil for none.
    @discardableResult
    public static func setHandler(
        keepingCreationSites: Bool = false, _ handler: (@Sendable (PromiseEvent) -> Void)?
    ) -> (@Sendable (PromiseEvent) -> Void)? {
        recordsSites.store(keepingCreationSites, ordering: .relaxed)
        let former = self.handler.withLock { current -> Handler? in
            let former = current
            current = handler.map { Handler(call: $0) }
            return former
        }
        return former?.call
    }

    @usableFromInline
    static func report(_ event: PromiseEvent) {
        handler.withLock { $0 }?.call(event)
    }

    // MARK: Creation sites.

    @usableFromInline
    static func recordCreation(of node: Node, _ file: StaticString, _ line: UInt) {
        guard recordsSites.load(ordering: .relaxed) else { return }
        store(CreationSite(file: file, line: line), for: node)
    }

    /// A link has the creation site of its chain.
    @usableFromInline
    static func recordCreationSite(of child: Node, asChildOf parent: Node) {
        if let site = site(of: parent) { store(site, for: child) }
    }

    static func name(_ node: Node, _ label: String, _ file: StaticString, _ line: UInt) {
        guard recordsSites.load(ordering: .relaxed) else { return }
        var site = site(of: node) ?? CreationSite(file: file, line: line)
        site.label = label
        store(site, for: node)
    }

    static func site(of node: Node) -> CreationSite? {
        guard node.hasCreationSite else { return nil }
        return sites.withLock { $0[ObjectIdentifier(node.object)] }
    }

    /// Called when the node is freed, because another node may get its address.
    static func forget(_ node: ObjectIdentifier) {
        _ = sites.withLock { $0.removeValue(forKey: node) }
    }

    private static func store(_ site: CreationSite, for node: Node) {
        _ = node.control.insert(ControlBits.hasCreationSite)
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
