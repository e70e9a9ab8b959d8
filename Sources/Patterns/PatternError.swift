/// Why a text is not a pattern, and where.
package struct PatternError: Error, Equatable {
    /// The offset in characters (Unicode scalars) from the start of the pattern.
    package let offset: Int
    let reason: Reason

    enum Reason: Sendable, CaseIterable {
        case unclosedGroup, unopenedGroup
        case unclosedClass, emptyClass, posixClass
        case rangeOutOfOrder
        case nothingToRepeat, brace, repetitionOutOfOrder
        case incompleteEscape, unknownEscape, octalEscape, unknownCategory
        case backReference, lookAround, wordBoundary, groupOption
        case tooLarge, tooDeep
    }
}

extension PatternError: CustomStringConvertible {
    package var description: String { reason.description }
}

extension PatternError.Reason: CustomStringConvertible {
    /// The message for the operator.
    var description: String {
        switch self {
        case .unclosedGroup: "this ( has no )"
        case .unopenedGroup: "this ) has no (; write \\) for the character"
        case .unclosedClass: "this [ has no ]"
        case .emptyClass: "this class is empty; write [\\]] for the bracket"
        case .posixClass: "classes like [:alpha:] are not known; write a-z, \\w or \\p{L}"
        case .rangeOutOfOrder: "this range ends before it begins"
        case .nothingToRepeat: "there is nothing to repeat here"
        case .brace: "a { begins a repetition such as {2} or {2,5}; write \\{ for the character"
        case .repetitionOutOfOrder: "the second number of a repetition must not be the smaller one"
        case .incompleteEscape: "this escape is incomplete"
        case .unknownEscape: "this escape is not known"
        case .octalEscape:
            "\\0 before a digit is octal in some languages; write \\x and two hexadecimal digits"
        case .unknownCategory:
            "there is no such Unicode category; they are written \\p{L}, \\p{Lu}, ..."
        case .backReference:
            "back-references are not supported: they cannot be matched in linear time"
        case .lookAround: "look-around is not supported: it cannot be matched in linear time"
        case .wordBoundary:
            "\\b and \\B are not supported: a pattern is held against the whole value"
        case .groupOption: "the only groups are (...), (?:...) and (?<name>...)"
        case .tooLarge:
            "this pattern is too large (at most \(PatternProgram.sizeMax) instructions);"
                + " is a repetition of a repetition meant?"
        case .tooDeep: "groups nest too deeply here"
        }
    }
}
