/// Why a value of a client's request is refused: the fixed texts of `errors` in a response.
package enum Reason: Equatable, Sendable {
    // Any value.
    case required
    case repeated
    case oneOf([String])
    /// Its name is not one that the endpoint knows.
    case unknown

    // Its spelling.
    case dotSegment
    case pathSegment
    case brokenEscape
    case notUTF8
    case notJSON

    // Its type.
    case integer(Bounds)
    case number(Bounds)
    case boolean
    case uuid
    case string
    case object
    case array
    case null

    // A string.
    case length(Bounds)
    case pattern(String)
    case tooLongForPattern
    /// A list with more elements than this number.
    case elements(Int)

    /// Limits in the operator's spelling; both may be missing.
    package struct Bounds: Equatable, Sendable {
        var least: String?
        var most: String?

        package init(least: String? = nil, most: String? = nil) {
            self.least = least
            self.most = most
        }
    }

    package var text: String {
        switch self {
        case .required: "is required"
        case .repeated: "must be given once"
        case .oneOf(let values): "must be one of \(values.joined(separator: ", "))"
        case .unknown: "is unknown"
        case .dotSegment: "must not be . or .."
        case .pathSegment:
            "must not leave an empty, . or .. segment, a backslash or a zero byte in a path"
        case .brokenEscape: "must have two hexadecimal digits after each %"
        case .notUTF8: "must be UTF-8"
        case .notJSON: "must be JSON"
        case .integer(let bounds): "must be an integer\(bounds.text)"
        case .number(let bounds): "must be a number\(bounds.text)"
        case .boolean: "must be true or false"
        case .uuid: "must be a UUID"
        case .string: "must be a string"
        case .object: "must be an object"
        case .array: "must be an array"
        case .null: "must be null"
        case .length(let bounds): "must have \(bounds.lengthText)"
        case .pattern(let text): "must match \(text)"
        case .elements(let most): "must have at most \(most) element\(most == 1 ? "" : "s")"
        case .tooLongForPattern: "is too long to be matched against its pattern"
        }
    }

    /// Every text once, for the reference, with N, M, PATTERN and A, B for values of a
    /// configuration.
    static let reference: [Reason] = [
        .required, .repeated, .oneOf(["A", "B"]), .unknown,
        .dotSegment, .pathSegment, .brokenEscape, .notUTF8, .notJSON,
        .integer(Bounds()), .integer(Bounds(least: "N")), .integer(Bounds(most: "M")),
        .integer(Bounds(least: "N", most: "M")),
        .number(Bounds()), .number(Bounds(least: "N")), .number(Bounds(most: "M")),
        .number(Bounds(least: "N", most: "M")),
        .boolean, .uuid, .string, .object, .array, .null,
        .length(Bounds(least: "N")), .length(Bounds(most: "M")),
        .length(Bounds(least: "N", most: "M")), .length(Bounds(least: "N", most: "N")),
        .pattern("PATTERN"), .tooLongForPattern,
    ]
}

extension Reason.Bounds {
    /// Continues "an integer".
    fileprivate var text: String {
        switch (least, most) {
        case (nil, nil): ""
        case (let least?, nil): " of at least \(least)"
        case (nil, let most?): " of at most \(most)"
        case (let least?, let most?): " from \(least) to \(most)"
        }
    }

    /// Continues "must have".
    fileprivate var lengthText: String {
        switch (least, most) {
        case (let least?, let most?) where least == most: "exactly \(characters(least))"
        case (let least?, let most?): "\(least) to \(characters(most))"
        case (let least?, nil): "at least \(characters(least))"
        case (nil, let most): "at most \(characters(most ?? ""))"
        }
    }

    private func characters(_ number: String) -> String {
        number == "1" ? "1 character" : "\(number) characters"
    }
}
