package import Basics

/// One command as the bytes that are sent: an array of bulk strings.
package struct RESPCommand: Sendable, Equatable {
    package let bytes: [UInt8]

    /// A command that was written with the functions below.
    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// - Parameter arguments: the name of the command is the first
    package init(_ arguments: [Bytes]) {
        var bytes: [UInt8] = []
        bytes.append(commandOf: arguments.count)
        for argument in arguments { bytes.append(argument: argument.span) }
        self.bytes = bytes
    }

    /// A command whose arguments are texts.
    package init(_ arguments: String...) {
        self.init(arguments.map { Bytes($0) })
    }
}

/// The parts of a command, for callers that write one without an allocation.
extension [UInt8] {
    /// Begins a command with this many arguments, its name included. Exactly as many must follow.
    package mutating func append(commandOf count: Int) {
        append(UInt8(ascii: "*"))
        append(decimal: count.magnitude)
        append(literal: "\r\n")
    }

    /// Adds an argument.
    package mutating func append(argument: Span<UInt8>) {
        append(UInt8(ascii: "$"))
        append(decimal: argument.count.magnitude)
        append(literal: "\r\n")
        append(copying: argument)
        append(literal: "\r\n")
    }

    /// Adds a text as an argument.
    package mutating func append(argument: StaticString) {
        append(UInt8(ascii: "$"))
        append(decimal: argument.utf8CodeUnitCount.magnitude)
        append(literal: "\r\n")
        append(literal: argument)
        append(literal: "\r\n")
    }

    /// Adds a whole number as an argument.
    package mutating func append(argument number: Int64) {
        append(UInt8(ascii: "$"))
        append(decimal: Self.decimalCount(of: number).magnitude)
        append(literal: "\r\n")
        if number < 0 { append(UInt8(ascii: "-")) }
        append(decimal: number.magnitude)
        append(literal: "\r\n")
    }

    /// The digits of a number, and its sign.
    private static func decimalCount(of number: Int64) -> Int {
        var count = number < 0 ? 2 : 1
        var rest = number.magnitude
        while rest >= 10 {
            rest /= 10
            count += 1
        }
        return count
    }
}
