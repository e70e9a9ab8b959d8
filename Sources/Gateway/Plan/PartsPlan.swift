import Basics
import HTTP
import JSONText

/// How an endpoint sends its response part by part: in which formats, and which calls each member of
/// the response waits for.
package final class PartsPlan {
    /// In the order of preference.
    package let formats: [PartFormat]
    /// The members whose names the configuration has, in the order in which they are sent if they are
    /// complete at the same time.
    let members: [Member]
    /// The calls whose members are unknown before their responses: `at: .`. They contribute to every member.
    let rootCalls: [Int]

    /// A member of the response.
    struct Member {
        let name: JSONName
        /// The calls that must have settled before it is sent.
        let calls: [Int]
        /// The only call that it is made of; nil if there are several, or none.
        let onlyCall: Int?
    }

    init(
        _ parts: Config.Parts, _ calls: [CallPlan], _ respond: RespondPlan?
    ) {
        formats = parts.formats.map(\.value)
        var members: [(key: String, calls: Set<Int>, placed: Int)] = []
        var roots: Set<Int> = []
        func add(_ calls: Set<Int>, to key: String, places: Bool = true) {
            let index = members.firstIndex { $0.key == key } ?? members.count
            if index == members.count { members.append((key, [], 0)) }
            members[index].calls.formUnion(calls)
            if places { members[index].placed += 1 }
        }
        for call in calls {
            let needed = Self.needed(by: call, calls)
            switch call.placement {
            case .named(let key): add(needed, to: key)
            case .nested(let keys), .appended(let keys):
                if let key = keys.first { add(needed, to: key) }
            case .root: roots.formUnion(needed)
            case .elements, .absent: break
            }
        }
        for (name, value) in respond?.put ?? [] {
            let used = value.references.compactMap { reference in
                if case .call(let index, _) = reference.source { index } else { nil }
            }
            add(
                Set(used.flatMap { Self.needed(by: calls[$0], calls) }), to: String(name.plain))
        }
        for (path, _) in respond?.defaultValues ?? [] {
            if case .key(let key)? = path.steps.first { add([], to: String(key), places: false) }
        }
        let dropped = (respond?.droppedPaths ?? []).compactMap { path in
            if path.steps.count == 1, case .key(let key) = path.steps[0] {
                String(key)
            } else {
                nil
            }
        }
        rootCalls = roots.sorted()
        self.members = members.filter { !dropped.contains($0.key) }.map { key, needed, placed in
            let only = calls.first { $0.ownKey == key }?.index
            return Member(
                name: JSONName(key), calls: needed.union(roots).sorted(),
                onlyCall: placed == 1 && roots.isEmpty ? only : nil)
        }
    }

    /// The calls that must have settled before the part of a call is final: with lists whose values are
    /// put in it, also the calls that read it, because they read it without these values.
    private static func needed(by call: CallPlan, _ calls: [CallPlan]) -> Set<Int> {
        guard !call.lists.isEmpty else { return [call.index] }
        let readers = calls.filter { $0.uses.contains(call.index) }.map(\.index)
        return Set([call.index] + call.lists + readers)
    }

    /// The format that a client prefers; nil for one document, the default.
    func format(for head: RequestHead) -> PartFormat? {
        // The client could not find the end of a body whose length is not stated.
        guard head.version != .http10 else { return nil }
        let preferences = MediaPreferences(head.fields.all(.accept))
        let document = preferences.quality(of: "application/json")
        var best: (format: PartFormat?, quality: Int) = (nil, document)
        for format in formats {
            let quality = preferences.quality(of: format.mediaType)
            if quality > best.quality { best = (format, quality) }
        }
        return best.format
    }
}

extension EndpointPlanner {
    func parts(_ calls: [CallPlan], _ respond: RespondPlan?) -> PartsPlan? {
        endpoint.parts.map { PartsPlan($0, calls, respond) }
    }
}
