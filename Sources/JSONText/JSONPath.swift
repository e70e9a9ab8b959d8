package import Basics

/// A path to a value inside another one: `a.b`, `items[].price`, `[1].id`, `"key with . or [".x`.
///
/// Compiled once from text. Keys are compared unescaped, so `"\u0061"` equals `a`; of duplicate
/// keys the last one counts.
package struct JSONPath: Sendable, Equatable {
    /// One step down.
    package enum Step: Sendable, Equatable {
        /// Into the member with this key (unescaped).
        case key(Bytes)
        /// Into one element, counted from zero.
        case element(Int)
        /// Into every element.
        case everyElement
    }

    /// At least one step.
    package let steps: [Step]

    /// Whether the path can match several values, that is, contains `[]`.
    package var isPlural: Bool { steps.contains(.everyElement) }

    /// Compiles a path.
    package init(_ text: String) throws(JSONPathError) {
        var parser = JSONPathParser(text)
        steps = try parser.steps()
    }

    package init(steps: [Step]) { self.steps = steps }
}

extension JSONSlice {
    /// The value at the end of the path; nil if there is none.
    ///
    /// A path that can match several values matches none here.
    package func value(at path: JSONPath) -> JSONSlice? {
        let range = Lookahead(bytes.span).range(of: path.steps[...], in: 0..<bytes.count)
        return range.map { JSONSlice(known: bytes[$0]) }
    }
}

extension JSONSlice {
    /// How many steps of the path lead to a name that its object has several times; nil if each name
    /// on the path occurs at most once. Other readers may take another of the values.
    package func repeatedName(on path: JSONPath) -> Int? {
        let lookahead = Lookahead(bytes.span)
        var range = 0..<bytes.count
        for (index, step) in path.steps.enumerated() {
            if case .key(let key) = step, lookahead.hasRepeated(key, in: range.lowerBound) {
                return index + 1
            }
            guard let next = lookahead.range(of: [step], in: range) else { return nil }
            range = next
        }
        return nil
    }
}

extension Lookahead {
    /// Whether the value is an object that has this key several times.
    fileprivate func hasRepeated(_ key: Bytes, in start: Int) -> Bool {
        guard byte(start) == .openBrace else { return false }
        var cursor = JSONCursor(self, at: start &+ 1)
        let pattern = KeyPattern(key)
        var isFound = false
        while let member = cursor.nextMember() {
            guard pattern.matches(member.key, in: self) else { continue }
            if isFound { return true }
            isFound = true
        }
        return false
    }

    /// The range of the value at the end of the steps, inside `value`.
    func range(of steps: ArraySlice<JSONPath.Step>, in value: Range<Int>) -> Range<Int>? {
        var range = value
        for step in steps {
            let next: Range<Int>? =
                switch step {
                case .key(let key): lastMember(of: range.lowerBound, named: key)
                case .element(let index): element(index, of: range.lowerBound)
                case .everyElement: nil
                }
            guard let next else { return nil }
            range = next
        }
        return range
    }

    private func lastMember(of start: Int, named key: Bytes) -> Range<Int>? {
        guard byte(start) == .openBrace else { return nil }
        var cursor = JSONCursor(self, at: start &+ 1)
        let pattern = KeyPattern(key)
        var found: Range<Int>?
        while let member = cursor.nextMember() {
            if pattern.matches(member.key, in: self) { found = member.value }
        }
        return found
    }

    private func element(_ index: Int, of start: Int) -> Range<Int>? {
        guard byte(start) == .openBracket else { return nil }
        var cursor = JSONCursor(self, at: start &+ 1)
        var left = index
        while let element = cursor.nextElement() {
            if left == 0 { return element }
            left &-= 1
        }
        return nil
    }
}
