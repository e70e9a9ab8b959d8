package import Basics
package import Patterns
package import YAMLReader

/// The rule for one scalar value in a request.
package struct ValueRule {
    package enum Kind {
        case string
        /// Digits with an optional minus sign.
        case integer
        /// A JSON number without a fraction, such as `1.0` and `1e3`.
        case wholeNumber
        case number
        case boolean
        case uuid
    }

    package let kind: Kind
    /// Of a number.
    private let bounds: NumberBounds
    /// Of a string, in Unicode scalars.
    private let leastLength: Int?
    private let mostLength: Int?
    private let pattern: Pattern?
    private let choices: [Bytes]

    /// A rule that accepts every value of the kind.
    package init(_ kind: Kind) {
        self.kind = kind
        bounds = NumberBounds(min: nil, max: nil)
        (leastLength, mostLength, pattern, choices) = (nil, nil, nil, [])
    }

    package init(_ kind: Kind, _ limits: some ValueLimits) throws(PatternError) {
        self.kind = kind
        bounds = NumberBounds(min: limits.min?.value, max: limits.max?.value)
        leastLength = limits.minLength?.value
        mostLength = limits.maxLength?.value
        var pattern: Pattern?
        if let text = limits.pattern?.value { pattern = try Pattern(text) }
        self.pattern = pattern
        choices = limits.oneOf.map { Bytes($0.value) }
    }

    /// The first reason to refuse the value; nil if it is valid.
    ///
    /// - Parameter work: the remaining budget for the patterns of the request
    package func refusal(of value: Bytes, _ work: inout PatternWork) -> Reason? {
        if !choices.isEmpty { return isChoice(value) ? nil : wrongKind }
        return hasKind(value.span) ? refusalOfString(value, &work) : kindReason
    }

    /// The same for a value of the configuration.
    func refusal(of value: Bytes) -> Reason? {
        var work = PatternWork()
        return refusal(of: value, &work)
    }

    /// The same without `one_of`, for checking the values of that list.
    func refusalWithoutChoices(of value: Bytes) -> Reason? {
        var work = PatternWork()
        return hasKind(value.span) ? refusalOfString(value, &work) : kindReason
    }

    /// The reason for a value of another type.
    package var wrongKind: Reason {
        choices.isEmpty ? kindReason : .oneOf(choices.map { String($0) })
    }

    private var kindReason: Reason {
        switch kind {
        case .string: .string
        case .integer, .wholeNumber: .integer(bounds.texts)
        case .number: .number(bounds.texts)
        case .boolean: .boolean
        case .uuid: .uuid
        }
    }

    private func hasKind(_ value: Span<UInt8>) -> Bool {
        switch kind {
        case .string: true
        case .integer: bounds.contain(value) { $0.isPlainInteger }
        case .wholeNumber: bounds.contain(value) { $0.isWhole }
        case .number: bounds.contain(value) { _ in true }
        case .boolean: value.isBoolean
        case .uuid: value.isUUID
        }
    }

    private func refusalOfString(_ value: Bytes, _ work: inout PatternWork) -> Reason? {
        guard kind == .string else { return nil }
        guard let text = try? UTF8Span(validating: value.span) else { return .notUTF8 }
        // The length is checked first, so that it bounds the cost of the pattern.
        if leastLength != nil || mostLength != nil {
            let length = text.scalarCount
            if length < leastLength ?? 0 || length > mostLength ?? .max {
                return .length(
                    Reason.Bounds(
                        least: leastLength.map { "\($0)" }, most: mostLength.map { "\($0)" }))
            }
        }
        guard let pattern else { return nil }
        guard work.take(instructions: pattern.size, bytes: value.count) else {
            return .tooLongForPattern
        }
        return pattern.matches(value.span) ? nil : .pattern(pattern.text)
    }

    private func isChoice(_ value: Bytes) -> Bool {
        switch kind {
        case .string, .boolean, .uuid: return choices.contains(value)
        case .integer, .wholeNumber, .number:
            guard hasKind(value.span) else { return false }
            return choices.contains { $0.isSameNumber(as: value) }
        }
    }
}

/// The rules of the configuration for a value: a parameter, or a property of a body.
package protocol ValueLimits {
    var location: SourceLocation { get }
    var min: Located<Config.Number>? { get }
    var max: Located<Config.Number>? { get }
    var minLength: Located<Int>? { get }
    var maxLength: Located<Int>? { get }
    var pattern: Located<String>? { get }
    var oneOf: [Located<String>] { get }
}

extension Config.Param: ValueLimits {}
extension Config.Property: ValueLimits {}

extension Config.Param {
    /// The kind of value; string if no type is given.
    package var ruleKind: ValueRule.Kind {
        switch type?.value {
        case .string, nil: .string
        case .integer: .integer
        case .number: .number
        case .boolean: .boolean
        case .uuid: .uuid
        }
    }
}

extension UTF8Span {
    /// The number of bytes that are not continuation bytes.
    fileprivate var scalarCount: Int {
        var count = 0
        for index in span.indices where span[index] & 0xC0 != 0x80 { count += 1 }
        return count
    }
}

extension Span<UInt8> {
    fileprivate var isBoolean: Bool {
        // Strings of this size are stored inline, without an allocation.
        guard (4...5).contains(count) else { return false }
        let text = String(copying: self)
        return text == "true" || text == "false"
    }

    /// RFC 9562 section 4: 8-4-4-4-12 hexadecimal digits, in either case.
    fileprivate var isUUID: Bool {
        guard count == 36 else { return false }
        for index in indices {
            let byte = self[index]
            let isValid =
                switch index {
                case 8, 13, 18, 23: byte == UInt8(ascii: "-")
                default: Unicode.Scalar(byte).properties.isASCIIHexDigit
                }
            if !isValid { return false }
        }
        return true
    }
}
