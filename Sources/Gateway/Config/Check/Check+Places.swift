import Basics
import JSONText
import YAMLReader

/// The rules for places in a response.
extension ConfigCheck {
    /// Reports a place that a call cannot have.
    mutating func checkPlace(of call: Config.Call) {
        guard let at = call.at else { return }
        switch at.value {
        case .member(let keys), .array(let keys):
            guard keys.first == Config.Endpoint.Report.key else { break }
            problems.error(
                at: at.location,
                "the key '\(Config.Endpoint.Report.key)' is reserved for the report")
        case .root, .absent, .elements: break
        }
        if case .array = at.value, call.keep?.value.isEmpty == true {
            problems.error(
                at: at.location,
                "call '\(call.name.value)' with 'keep: []' has no elements that could be appended")
        }
    }

    /// Warns of keys and paths that two calls have, as far as the file shows them.
    mutating func checkKeys(of endpoint: Config.Endpoint) {
        var owners: [String: String] = [:]
        // With `root`, no part has a place.
        for call in endpoint.calls where endpoint.respond?.root == nil {
            let keys = call.knownKeys
            for key in keys {
                guard let owner = owners[key] else {
                    owners[key] = call.name.value
                    continue
                }
                guard owner != call.name.value else { continue }
                let fails = call.onCollision?.value == .fail
                problems.warning(
                    at: call.at?.location ?? call.name.location,
                    fails
                        ? "call '\(call.name.value)' fails if call '\(owner)' already has its key"
                            + " '\(key)'"
                        : "the key '\(key)' of call '\(call.name.value)' is dropped if call"
                            + " '\(owner)' already has it")
            }
        }
        let dropped = (endpoint.respond?.drop ?? []).compactMap { try? JSONPath($0.value).steps }
        for name in endpoint.respond?.put.map(\.name) ?? [] {
            let placed = endpoint.calls.first { $0.at?.value.firstKey == name.value }
            guard let owner = owners[name.value] ?? placed?.name.value,
                !dropped.contains([.key(Bytes(name.value))])
            else { continue }
            problems.warning(
                at: name.location,
                "the key '\(name.quoted)' of 'put' is dropped if call '\(owner)' already has it; 'drop'"
                    + " removes the key of the call")
        }
    }
}

extension Config.Call.Position {
    /// The first key of a path.
    var firstKey: String? {
        switch self {
        case .member(let keys), .array(let keys): keys.first
        case .root, .absent, .elements: nil
        }
    }
}

extension Config.Call {
    /// The keys of the root, or the path below it, that the file shows as this call's own.
    fileprivate var knownKeys: [String] {
        switch at?.value {
        case nil: [name.value]
        case .root: knownRootKeys
        case .member(let keys): [keys.joined(separator: ".")]
        case .elements(_, let keys):
            ["\(each?.list?.value.name ?? "")[].\(keys.joined(separator: "."))"]
        case .array, .absent: []
        }
    }

    /// The keys of the response that the file shows: the keys of `keep`, and the new names of
    /// `rename`.
    fileprivate var knownRootKeys: [String] {
        let kept = (keep?.value ?? []).filter(\.isVerbatim).compactMap { rootKey($0.value) }
        let dropped = drop.filter(\.isVerbatim).compactMap { wholeRootKey($0.value) }
        let renamed = renamedMembers.filter(\.name.isVerbatim).compactMap { entry in
            wholeRootKey(entry.path.value).map { (from: $0, to: entry.name.value) }
        }
        let unchanged = kept.filter { key in
            !dropped.contains(key) && !renamed.contains { $0.from == key }
        }
        let others = usesCamelCase ? unchanged.map { CamelCase.name(of: $0) } : unchanged
        return others + renamed.map(\.to)
    }

    private func rootKey(_ path: String) -> String? {
        guard case .key(let key)? = (try? JSONPath(path))?.steps.first else { return nil }
        return String(key)
    }

    /// The key of a path that consists of one key.
    private func wholeRootKey(_ path: String) -> String? {
        guard let steps = (try? JSONPath(path))?.steps, steps.count == 1 else { return nil }
        return rootKey(path)
    }
}
