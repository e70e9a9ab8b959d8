import Basics

/// Puts one object together, of named members and of the members of whole objects, in order.
///
/// The first to bring a key keeps it. Names that are added must differ from each other, which is
/// for the caller to see to; so as long as no object is merged, no key is ever looked at.
package struct JSONObjectBuilder {
    private var bytes: [UInt8] = []
    private let reserved: [Bytes]
    private var hasMerged = false
    /// The keys of the first `indexedCount` bytes, unescaped. Looked up, never iterated.
    private var keys: Set<[UInt8]> = []
    private var indexedCount = 1

    /// - Parameter reserved: keys that no merged object may bring.
    package init(capacity: Int = 0, reserved: [JSONName] = []) {
        bytes.reserveCapacity(capacity + 2)
        bytes.append(.openBrace)
        self.reserved = reserved.map(\.plain)
    }

    /// Adds a member, unless its key came with a merged object: then false, and nothing is added.
    package mutating func add(_ name: JSONName, _ value: JSONSlice) -> Bool {
        add(name) { $0.append(json: value) }
    }

    /// The same for a value that the closure writes. It must be one value.
    package mutating func add(_ name: JSONName, write: (inout [UInt8]) -> Void) -> Bool {
        if hasMerged {
            index()
            if keys.contains(name.plain.array) { return false }
        }
        bytes.append(jsonKey: name)
        write(&bytes)
        return true
    }

    /// Adds the members of an object, and returns the keys that were left out since they were there
    /// before, or are reserved. Keys that come twice in the object itself pass.
    package mutating func merge(_ object: JSONSlice) -> [String] {
        guard object.kind == .object else { return [] }
        let text = object.bytes.span
        let colliding = collidingMembers(text)
        hasMerged = true
        var left = colliding[...]
        var cursor = JSONCursor(Lookahead(text), at: 1)
        // Members between two that collide are one splice.
        var run: Range<Int>?
        while let member = cursor.nextMember() {
            if member.value == left.first?.value {
                left.removeFirst()
                splice(text, run)
                run = nil
            } else {
                let start = run?.lowerBound ?? member.key.inside.lowerBound - 1
                run = start..<member.value.upperBound
            }
        }
        splice(text, run)
        return names(text, colliding)
    }

    /// The keys that `merge` would leave out.
    package mutating func collisions(with object: JSONSlice) -> [String] {
        guard object.kind == .object else { return [] }
        return names(object.bytes.span, collidingMembers(object.bytes.span))
    }

    /// The object as it stands, closed.
    package consuming func finish() -> JSONSlice {
        bytes.append(.closeBrace)
        return JSONSlice(known: Bytes(bytes))
    }

    private mutating func splice(_ text: Span<UInt8>, _ run: Range<Int>?) {
        guard let run else { return }
        bytes.appendJSONComma()
        bytes.append(copying: text.extracting(run))
    }

    private mutating func collidingMembers(_ text: Span<UInt8>) -> [JSONCursor.Member] {
        index()
        guard !keys.isEmpty || !reserved.isEmpty else { return [] }
        var colliding: [JSONCursor.Member] = []
        var cursor = JSONCursor(Lookahead(text), at: 1)
        while let member = cursor.nextMember() {
            let key = text.extracting(member.key.inside)
            let isTaken = !keys.isEmpty && keys.contains(key.unescaped)
            if isTaken || reserved.contains(where: { key.means($0.span) }) {
                colliding.append(member)
            }
        }
        return colliding
    }

    /// Takes in the keys that were written since the last look.
    private mutating func index() {
        guard bytes.count > indexedCount else { return }
        let written = bytes
        var cursor = JSONCursor(Lookahead(written.span), at: indexedCount)
        while let member = cursor.nextMember() {
            keys.insert(written.span.extracting(member.key.inside).unescaped)
        }
        indexedCount = bytes.count
    }

    private func names(_ text: Span<UInt8>, _ members: [JSONCursor.Member]) -> [String] {
        members.map { String(decoding: text.extracting($0.key.inside).unescaped, as: UTF8.self) }
    }
}
