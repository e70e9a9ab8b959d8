import Basics
import JSONText
import Testing

@testable import Gateway

@Suite struct InvalidRequestTests {
    @Test func rendersTheErrorsAsJSON() {
        let invalid = InvalidRequest(errors: [
            InvalidRequest.Fault(
                location: .path, name: "id", reason: .integer(Reason.Bounds(least: "1"))),
            InvalidRequest.Fault(location: .body, name: "a\"b", reason: .pattern("\\d+")),
        ])
        #expect(
            String(invalid.json)
                == #"[{"in":"path","name":"id","reason":"must be an integer of at least 1"},"#
                + #"{"in":"body","name":"a\"b","reason":"must match \\d+"}]"#)
        #expect(throws: Never.self) { try JSONSlice(validating: invalid.json) }
    }

    @Test func theReferenceListsEveryText() {
        #expect(
            Reason.reference.map(\.text) == [
                "is required",
                "must be given once",
                "must be one of A, B",
                "is unknown",
                "must not be . or ..",
                "must not leave an empty, . or .. segment, a backslash or a zero byte in a path",
                "must have two hexadecimal digits after each %",
                "must be UTF-8",
                "must be JSON",
                "must be an integer",
                "must be an integer of at least N",
                "must be an integer of at most M",
                "must be an integer from N to M",
                "must be a number",
                "must be a number of at least N",
                "must be a number of at most M",
                "must be a number from N to M",
                "must be true or false",
                "must be a UUID",
                "must be a string",
                "must be an object",
                "must be an array",
                "must be null",
                "must have at least N characters",
                "must have at most M characters",
                "must have N to M characters",
                "must have exactly N characters",
                "must match PATTERN",
                "is too long to be matched against its pattern",
            ])
    }

    @Test func usesTheSingularForOneCharacter() {
        #expect(Reason.length(Reason.Bounds(least: "1")).text == "must have at least 1 character")
    }
}
