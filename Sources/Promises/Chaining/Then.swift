// Operators that continue with a promise.

extension Node {
    @inlinable
    func then<In, Next: PromiseFace>(
        on context: (any ExecutionContext)? = nil, _ body: @escaping (In) throws -> Next
    ) -> Node {
        link(Next.Value.self, on: context, Handler(body)) { child in
            guard let handler = child.takeHandler(In.self, Next.self),
                let value = child.receive(In.self)
            else { return }
            do { child.adopt(try handler.call(value).node, as: Next.Value.self) } catch {
                child.reject(error)
            }
        }
    }

    @inlinable
    func adding<In, Next: PromiseFace>(
        on context: (any ExecutionContext)? = nil, _ body: @escaping (In) throws -> Next
    ) -> Node {
        link((In, Next.Value).self, on: context, Handler(body)) { child in
            guard let handler = child.takeHandler(In.self, Next.self),
                let value = child.receive(In.self)
            else { return }
            do {
                child.wait(for: try handler.call(value).node) { child in
                    guard let new = child.receive(Next.Value.self) else { return }
                    child.fulfill((value, new))
                }
            } catch {
                child.reject(error)
            }
        }
    }

    @inlinable
    static func firstly<Next: PromiseFace>(home: Home, _ body: () throws -> Next) -> Node {
        do {
            return try body().node.link(Next.Value.self) { $0.inherit(Next.Value.self) }
        } catch {
            return .failed(error, as: Next.Value.self, home: home)
        }
    }
}

extension Promise {
    /// Continues with another promise; a throw rejects.
    @inlinable
    public func then<New: Sendable>(
        on context: (any ExecutionContext)? = nil,
        _ body: @escaping @Sendable (Value) throws -> Promise<New>
    ) -> Promise<New> {
        .init(node.then(on: context, body))
    }

    /// Continues with another promise and keeps this value beside the new one.
    @inlinable
    public func adding<New: Sendable>(
        on context: (any ExecutionContext)? = nil,
        _ body: @escaping @Sendable (Value) throws -> Promise<New>
    ) -> Promise<(Value, New)> {
        .init(node.adding(on: context, body))
    }
}

extension Local {
    /// Continues with another promise; a throw rejects.
    @inlinable
    public func then<New>(_ body: @escaping (Value) throws -> Local<New>) -> Local<New> {
        .init(node.then(body))
    }

    /// Continues with another promise and keeps this value beside the new one.
    @inlinable
    public func adding<New>(
        _ body: @escaping (Value) throws -> Local<New>
    ) -> Local<(Value, New)> {
        .init(node.adding(body))
    }
}

/// Begins a chain: the body runs now, and what it throws rejects.
@inlinable
public func firstly<Value: Sendable>(_ body: () throws -> Promise<Value>) -> Promise<Value> {
    .init(Node.firstly(home: .beginning(on: nil), body))
}

extension Core {
    /// Begins a chain: the body runs now, and what it throws rejects.
    @inlinable
    public func firstly<Value>(_ body: () throws -> Local<Value>) -> Local<Value> {
        .init(Node.firstly(home: home, body))
    }
}
