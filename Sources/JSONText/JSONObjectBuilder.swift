import Basics

/// Builds one object of named members and of the members of whole objects, in order.
///
/// The first member with a key wins. Unless the caller says that added names may be equal, keys are compared
/// only after an object was merged.
///
/// It cannot be copied: a second reference to its bytes would make `finish` copy all of them.
package struct JSONObjectBuilder: ~Copyable {
    private var bytes: [UInt8] = []
    private let reserved: [JSONName]
    private var comparesKeys: Bool
    /// The keys of the first `indexedCount` bytes, unescaped. Never iterated, so its order does not
    /// matter.
    private var keys: Set<[UInt8]> = []
    private var indexedCount = 1
    /// The placeholders, and where their members are.
    private var placeholders: [(key: [UInt8], member: Range<Int>)] = []

    /// - Parameters:
    ///   - reserved: keys that are left out of merged objects
    ///   - mayRepeatNames: whether members with equal names may be added
    package init(capacity: Int = 0, reserved: [JSONName] = [], mayRepeatNames: Bool = false) {
        bytes.reserveCapacity(capacity + 2)
        bytes.append(.openBrace)
        self.reserved = reserved
        comparesKeys = mayRepeatNames
    }

    /// Adds members after the members of an object.
    ///
    /// - Parameter mayRepeatNames: whether members whose names it has may be added
    package init(continuing object: JSONSlice, mayRepeatNames: Bool = false) {
        assert(object.kind == .object, "an object is continued")
        bytes = object.bytes[0..<(object.bytes.count - 1)].array
        reserved = []
        comparesKeys = mayRepeatNames
    }

    /// Adds a member; false, and adds nothing, if its key exists and is no placeholder.
    package mutating func add(_ name: JSONName, _ value: JSONSlice) -> Bool {
        add(name) { $0.append(json: value) }
    }

    /// Adds a member whose value the closure writes. It must write exactly one value.
    package mutating func add(_ name: JSONName, write: (inout [UInt8]) -> Void) -> Bool {
        if comparesKeys {
            indexNewKeys()
            let key = name.plain.array
            if exists(key) { return false }
            if keys.contains(key) { removePlaceholder(key) }
        }
        bytes.append(jsonKey: name)
        write(&bytes)
        return true
    }

    /// Adds a member that is `null` unless an object that is merged before or after it has its key.
    package mutating func addPlaceholder(_ name: JSONName) {
        let start = bytes.count == 1 ? 1 : bytes.count + 1
        let key = name.plain.array
        guard !placeholders.contains(where: { $0.key == key }), add(name, .null) else { return }
        placeholders.append((key, start..<bytes.count))
    }

    /// Adds the members of an object, and returns the keys that were left out because they exist
    /// already or are reserved. Duplicate keys within the object are kept.
    package mutating func merge(_ object: JSONSlice) -> [String] {
        guard object.kind == .object else { return [] }
        let text = object.bytes.span
        if !placeholders.isEmpty { removePlaceholders(replacedBy: text) }
        let colliding = collidingMembers(text)
        comparesKeys = true
        guard !colliding.isEmpty else {
            splice(text, text.insideOfContainer)
            return []
        }
        var remaining = colliding[...]
        var cursor = JSONCursor(Lookahead(text), at: 1)
        // Members between two colliding ones are copied together.
        var pending: Range<Int>?
        while let member = cursor.nextMember() {
            if member.value == remaining.first?.value {
                remaining.removeFirst()
                splice(text, pending)
                pending = nil
            } else {
                let start = pending?.lowerBound ?? member.key.inside.lowerBound - 1
                pending = start..<member.value.upperBound
            }
        }
        splice(text, pending)
        return names(text, colliding)
    }

    /// The keys that `merge` would leave out.
    package mutating func collisions(with object: JSONSlice) -> [String] {
        guard object.kind == .object else { return [] }
        return names(object.bytes.span, collidingMembers(object.bytes.span))
    }

    /// The finished object.
    package consuming func finish() -> JSONSlice {
        bytes.append(.closeBrace)
        return JSONSlice(known: Bytes(bytes))
    }

    private mutating func splice(_ text: Span<UInt8>, _ pending: Range<Int>?) {
        guard let pending else { return }
        bytes.appendJSONComma()
        bytes.append(copying: text.extracting(pending))
    }

    private mutating func collidingMembers(_ text: Span<UInt8>) -> [JSONCursor.Member] {
        indexNewKeys()
        guard !keys.isEmpty || mayHaveReservedKey(text) else { return [] }
        var colliding: [JSONCursor.Member] = []
        var cursor = JSONCursor(Lookahead(text), at: 1)
        while let member = cursor.nextMember() {
            let key = text.extracting(member.key.inside)
            let exists = !keys.isEmpty && exists(key.unescaped)
            if exists || reserved.contains(where: { key.means($0.plain.span) }) {
                colliding.append(member)
            }
        }
        return colliding
    }

    /// Whether a member has the key that is no placeholder.
    private func exists(_ key: [UInt8]) -> Bool {
        keys.contains(key) && !placeholders.contains { $0.key == key }
    }

    /// Removes the placeholders whose keys an object has.
    private mutating func removePlaceholders(replacedBy text: Span<UInt8>) {
        var cursor = JSONCursor(Lookahead(text), at: 1)
        while let member = cursor.nextMember() {
            removePlaceholder(text.extracting(member.key.inside).unescaped)
        }
    }

    private mutating func removePlaceholder(_ key: [UInt8]) {
        guard let index = placeholders.firstIndex(where: { $0.key == key }) else { return }
        remove(placeholders.remove(at: index).member)
        keys.remove(key)
    }

    /// Removes a member and a comma beside it.
    private mutating func remove(_ member: Range<Int>) {
        let removed =
            member.lowerBound > 1
            ? (member.lowerBound - 1)..<member.upperBound
            : 1..<Swift.min(member.upperBound + 1, bytes.count)
        bytes.removeSubrange(removed)
        if indexedCount > removed.lowerBound {
            indexedCount = Swift.max(removed.lowerBound, indexedCount - removed.count)
        }
        for index in placeholders.indices
        where placeholders[index].member.lowerBound >= removed.upperBound {
            let later = placeholders[index].member
            placeholders[index].member =
                (later.lowerBound - removed.count)..<(later.upperBound - removed.count)
        }
    }

    /// Whether a key of the text may be a reserved one. False only if that is certain: no string of the
    /// text begins with an escape or like a reserved key.
    private func mayHaveReservedKey(_ text: Span<UInt8>) -> Bool {
        reserved.contains { name in
            name.plain.count < 2 || text.mayHaveString(beginning: name.plain[0], name.plain[1])
        }
    }

    /// Adds the keys that were written since the last call to `keys`.
    private mutating func indexNewKeys() {
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

extension Span<UInt8> {
    /// The range of what an object or array contains, without white space around it; nil for an empty one.
    var insideOfContainer: Range<Int>? {
        var (start, end) = (1, count - 1)
        // Outside of strings, white space are the only bytes up to the space.
        while start < end, self[start] <= .space { start += 1 }
        while end > start, self[end - 1] <= .space { end -= 1 }
        return start < end ? start..<end : nil
    }
}

extension Span<UInt8> {
    /// Whether a string may begin with these two bytes: with one of them as an escape, too.
    fileprivate func mayHaveString(beginning first: UInt8, _ second: UInt8) -> Bool {
        var quote = firstQuote(before: first, from: 0)
        while quote < count {
            guard self[quote + 1] == first, quote + 2 < count else { return true }
            let next = self[quote + 2]
            if next == second || next == .backslash { return true }
            quote = firstQuote(before: first, from: quote + 1)
        }
        return false
    }
}
