// The description of a promise in a debugger and in a log.

extension Promise: CustomDebugStringConvertible {
    /// The type, what is known now, and where the chain began if `PromiseDiagnostics` keeps sites:
    /// `Promise<Int>(pending, Server/Login.swift:42)`. A snapshot, which never blocks.
    public var debugDescription: String { node.described(as: Promise.self, state) }

    /// The same promise with a name for diagnostics, while `PromiseDiagnostics` keeps creation
    /// sites; else this does nothing. No link is made, so there is nothing more to cancel.
    public func labelled(
        _ label: String, file: StaticString = #fileID, line: UInt = #line
    ) -> Promise {
        PromiseDiagnostics.name(node, label, file, line)
        return self
    }
}

extension LocalPromise: CustomDebugStringConvertible {
    /// The type, what is known now, and where the chain began if `PromiseDiagnostics` keeps sites.
    public var debugDescription: String { node.described(as: LocalPromise.self, state) }

    /// The same promise with a name for diagnostics, while `PromiseDiagnostics` keeps creation
    /// sites; else this does nothing. No link is made, so there is nothing more to cancel.
    public func labelled(
        _ label: String, file: StaticString = #fileID, line: UInt = #line
    ) -> LocalPromise {
        PromiseDiagnostics.name(node, label, file, line)
        return self
    }
}

extension Guarantee: CustomDebugStringConvertible {
    /// The type, what is known now, and where the chain began if `PromiseDiagnostics` keeps sites.
    public var debugDescription: String {
        node.described(as: Guarantee.self, PromiseState(node.result(as: Value.self)))
    }
}

extension LocalGuarantee: CustomDebugStringConvertible {
    /// The type, what is known now, and where the chain began if `PromiseDiagnostics` keeps sites.
    public var debugDescription: String {
        node.described(as: LocalGuarantee.self, PromiseState(node.result(as: Value.self)))
    }
}

extension PromiseState: CustomStringConvertible {
    /// The state in one word, with what it carries.
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
