// Descriptions of promises for debuggers and logs.

extension Promise: CustomDebugStringConvertible {
    /// The type, the current state, and where the chain began if `PromiseDiagnostics` records
    /// creation sites: `Promise<Int>(pending, Server/Login.swift:42)`. A snapshot, which never
    /// blocks.
    public var debugDescription: String { node.described(as: Promise.self, state) }

    /// The same promise with a name for diagnostics, while `PromiseDiagnostics` records creation
    /// sites; otherwise does nothing. No link is made, so there is nothing more to cancel.
    public func labelled(
        _ label: String, file: StaticString = #fileID, line: UInt = #line
    ) -> Promise {
        PromiseDiagnostics.name(node, label, file, line)
        return self
    }
}

extension LocalPromise: CustomDebugStringConvertible {
    /// The type, the current state, and where the chain began if `PromiseDiagnostics` records
    /// creation sites.
    public var debugDescription: String { node.described(as: LocalPromise.self, state) }

    /// The same promise with a name for diagnostics, while `PromiseDiagnostics` records creation
    /// sites; otherwise does nothing. No link is made, so there is nothing more to cancel.
    public func labelled(
        _ label: String, file: StaticString = #fileID, line: UInt = #line
    ) -> LocalPromise {
        PromiseDiagnostics.name(node, label, file, line)
        return self
    }
}

extension Guarantee: CustomDebugStringConvertible {
    /// The type, the current state, and where the chain began if `PromiseDiagnostics` records
    /// creation sites.
    public var debugDescription: String {
        node.described(as: Guarantee.self, PromiseState(node.result(as: Value.self)))
    }
}

extension PromiseState: CustomStringConvertible {
    /// The state in one word, with its value or error.
    public var description: String {
        switch self {
        case .pending: "pending"
        case .fulfilled(let value): "fulfilled: \(value)"
        case .rejected(let error): "rejected: \(error)"
        case .cancelled(let cause?): "cancelled: \(cause)"
        case .cancelled(nil): "cancelled"
        }
    }
}

extension Node {
    fileprivate func described<Value>(as face: Any.Type, _ state: PromiseState<Value>) -> String {
        let place = PromiseDiagnostics.site(of: self).map { ", \($0)" } ?? ""
        return "\(face)(\(state)\(place))"
    }
}
