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
    /// The calls that decide whether the parts of required calls can be placed: the head waits for them.
    let placingCalls: [Int]

    /// A member of the response.
    struct Member {
        let name: JSONName
        /// The calls that must have settled before it is sent.
        let calls: [Int]
        /// The only call that it is made of; nil if there are several, or none.
        let onlyCall: Int?
    }

    init(_ parts: Config.Parts, _ calls: [CallPlan], _ respond: RespondPlan?) {
        formats = parts.formats.map(\.value)
        var members = Contributions()
        var roots: Set<Int> = []
        for call in calls {
            let needed = [call.index] + call.lists
            switch call.placement {
            case .named(let key): members.add(needed, to: key, placing: call.index)
            case .nested(let keys), .appended(let keys):
                if let key = keys.first { members.add(needed, to: key, placing: call.index) }
            // As a whole it collides with parts before it, or it does not.
            case .root where call.failsOnCollision: roots.formUnion(needed + (0..<call.index))
            case .root: roots.formUnion(needed)
            case .elements, .absent: break
            }
        }
        // A call whose part cannot be placed has no value, which another part in the member decides.
        var placedBeside: [Int: Set<Int>] = [:]
        for member in members.all {
            for call in member.placed where calls[call].mayBeMisplaced {
                placedBeside[call] = member.calls
            }
        }
        placingCalls = Set(calls.flatMap { $0.placingCalls(among: calls) }).sorted()
        // `drop` comes first, then `put`, then `default`.
        for path in respond?.droppedPaths ?? [] where path.steps.count == 1 {
            if case .key(let key) = path.steps[0] { members.remove(String(key)) }
        }
        for (name, value) in respond?.put ?? [] {
            let used = value.references.compactMap { reference in
                if case .call(let index, _) = reference.source { index } else { nil }
            }
            let deciding = used.flatMap { call in
                calls[call].lists + (placedBeside[call] ?? []) + [call]
            }
            members.add(deciding, to: String(name.plain), placing: nil)
        }
        for (path, _) in respond?.defaultValues ?? [] {
            if case .key(let key)? = path.steps.first { members.add([], to: String(key)) }
        }
        rootCalls = roots.sorted()
        self.members = members.all.map { member in
            Member(
                name: JSONName(member.key), calls: member.calls.union(roots).sorted(),
                onlyCall: member.hasPut || member.placed.count != 1 ? nil : member.placed[0])
        }
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

/// The calls that contribute to each member, in the order of the members.
private struct Contributions {
    private(set) var all: [(key: String, calls: Set<Int>, placed: [Int], hasPut: Bool)] = []

    /// - Parameter call: the call whose part is placed in the member; nil for a value of `put`
    mutating func add(_ calls: [Int], to key: String, placing call: Int?) {
        let index = add(calls, to: key)
        if let call { all[index].placed.append(call) } else { all[index].hasPut = true }
    }

    @discardableResult
    mutating func add(_ calls: [Int], to key: String) -> Int {
        let index = all.firstIndex { $0.key == key } ?? all.count
        if index == all.count { all.append((key, [], [], false)) }
        all[index].calls.formUnion(calls)
        return index
    }

    mutating func remove(_ key: String) { all.removeAll { $0.key == key } }
}

extension CallPlan {
    /// Whether other parts decide if its part can be placed.
    fileprivate var mayBeMisplaced: Bool {
        switch placement {
        case .nested, .appended: true
        case .named, .root: failsOnCollision
        case .elements, .absent: false
        }
    }
}

extension CallPlan {
    /// If it is required, itself and the calls that decide whether its part can be placed; none if nothing does.
    fileprivate func placingCalls(among calls: [CallPlan]) -> [Int] {
        guard isRequired else { return [] }
        let others = calls.filter {
            $0.index != index && mayHinder($0, isEarlier: $0.index < index)
        }
        return others.isEmpty ? [] : others.map(\.index) + [index]
    }

    /// - Parameter isEarlier: whether the other call comes before this one in the file
    private func mayHinder(_ other: CallPlan, isEarlier: Bool) -> Bool {
        switch (placement, other.placement) {
        case (.absent, _), (_, .absent): false
        case (.elements(let keys), .elements(let others)):
            // The value of the other list is on the way, or at the place.
            isEarlier && list?.call == other.list?.call
                && (keys.count > others.count || failsOnCollision)
                && keys.starts(with: others)
        case (.elements, _), (_, .elements): false
        case (.root, _): failsOnCollision && isEarlier
        case (.named, .root): failsOnCollision && isEarlier
        case (.named(let key), .named(let other)):
            failsOnCollision && isEarlier && key == other
        case (.named, _): false
        case (.nested, .root), (.appended, .root): true
        case (.nested(let keys), .named(let key)), (.appended(let keys), .named(let key)):
            keys.first == key
        case (.appended(let keys), .appended(let others)):
            keys.first == others.first && keys != others
        case (.nested(let keys), .nested(let others)), (.nested(let keys), .appended(let others)),
            (.appended(let keys), .nested(let others)):
            keys.first == others.first
        }
    }
}
