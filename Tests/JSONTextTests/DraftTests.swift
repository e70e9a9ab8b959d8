import Basics
import Testing

@testable import JSONText

/// An object that gets members under paths.
@Suite struct DraftTests {
    /// What is done to an object: a value, and the keys that lead to it.
    enum Step {
        case add(String, [String])
        case placeholder([String])
        case append(String, [String])
    }

    private func result(_ object: String, _ steps: [Step]) throws -> (String, [JSONDraft.Outcome]) {
        var draft = JSONDraft(try JSONSlice(validating: Bytes(object)))
        var outcomes: [JSONDraft.Outcome] = []
        for step in steps {
            switch step {
            case .add(let value, let keys):
                let value = try JSONSlice(validating: Bytes(value))
                outcomes.append(draft.add(value, at: keys.map { JSONName($0) }))
            case .placeholder(let keys): draft.addPlaceholder(at: keys.map { JSONName($0) })
            case .append(let value, let keys):
                let value = try JSONSlice(validating: Bytes(value))
                outcomes.append(draft.append(value, to: keys.map { JSONName($0) }))
            }
        }
        let text = String(draft.finish().bytes)
        _ = try JSONSlice(validating: Bytes(text))
        return (text, outcomes)
    }

    static let added: [(String, [Step], String)] = [
        ("{}", [], "{}"),
        ("{}", [.add("1", ["a"])], #"{"a":1}"#),
        ("{ }", [.add("1", ["a", "b"])], #"{"a":{"b":1} }"#),
        (#"{ "a" : { "x":1 } }"#, [.add("2", ["a", "y"])], #"{ "a" : { "x":1,"y":2 } }"#),
        (#"{"a":null,"z":0}"#, [.add("1", ["a", "b", "c"])], #"{"a":{"b":{"c":1}},"z":0}"#),
        // Both in one object, in the order of the steps.
        (
            #"{"a":{"n":{}},"b":{}}"#,
            [.add("1", ["b", "x"]), .add("2", ["a", "y"]), .add("3", ["a", "n", "z"])],
            #"{"a":{"n":{"z":3},"y":2},"b":{"x":1}}"#
        ),
        // An escaped key, and of two equal ones the last.
        (#"{"\u0061":{}}"#, [.add("1", ["a", "b"])], #"{"\u0061":{"b":1}}"#),
        (#"{"a":{},"a":{"x":0}}"#, [.add("1", ["a", "b"])], #"{"a":{},"a":{"x":0,"b":1}}"#),
        // Into what another step has added.
        (
            "{}", [.add(#"{"x":1}"#, ["a"]), .add("2", ["a", "y"]), .add("3", ["a", "z"])],
            #"{"a":{"x":1,"y":2,"z":3}}"#
        ),
        ("{}", [.placeholder(["a", "b"]), .add("1", ["a", "b"])], #"{"a":{"b":1}}"#),
        ("{}", [.placeholder(["a"]), .placeholder(["a"])], #"{"a":null}"#),
        ("{}", [.placeholder(["a"]), .add("1", ["a", "b"])], #"{"a":{"b":1}}"#),
        // What was added to a placeholder is none.
        (
            "{}", [.placeholder(["a"]), .add("1", ["a", "b"]), .placeholder(["a"])],
            #"{"a":{"b":1}}"#
        ),
        (#"{"a":1}"#, [.placeholder(["a"])], #"{"a":1}"#),
        (#"{"a":1}"#, [.placeholder(["a", "b"])], #"{"a":1}"#),
        ("{}", [.append("[ 1 ]", ["a"]), .append("[2, 3]", ["a"])], #"{"a":[ 1,2, 3 ]}"#),
        ("{}", [.append("[]", ["a"]), .append("[2]", ["a"])], #"{"a":[2]}"#),
        ("{}", [.append("null", ["a"]), .append("[ ]", ["a"])], #"{"a":[]}"#),
        (#"{"a":{"b":[0]}}"#, [.append("[1]", ["a", "b"])], #"{"a":{"b":[0,1]}}"#),
        (#"{"a":null}"#, [.append("[1]", ["a"])], #"{"a":[1]}"#),
    ]

    @Test(arguments: added)
    func membersAreAdded(_ object: String, _ steps: [Step], _ expected: String) throws {
        let (text, outcomes) = try result(object, steps)
        #expect(text == expected)
        #expect(outcomes.allSatisfy { $0 == .added })
    }

    static let refused: [(String, Step, JSONDraft.Outcome)] = [
        (#"{"a":1}"#, .add("2", ["a"]), .exists),
        (#"{"a":null}"#, .add("2", ["a"]), .exists),
        (#"{"a":{"b":1}}"#, .add("2", ["a", "b"]), .exists),
        (#"{"a":1}"#, .add("2", ["a", "b"]), .invalidShape),
        (#"{"a":"{"}"#, .add("2", ["a", "b"]), .invalidShape),
        (#"{"a":[]}"#, .add("2", ["a", "b"]), .invalidShape),
        (#"{"a":{}}"#, .append("[1]", ["a"]), .invalidShape),
        ("{}", .append("{}", ["a"]), .invalidShape),
    ]

    @Test func whatWasAddedToAPlaceholderIsKept() throws {
        for inner in [Step.add("1", ["a", "b"]), .append("[1]", ["a"])] {
            let (text, outcomes) = try result("{}", [.placeholder(["a"]), inner, .add("2", ["a"])])
            #expect(outcomes == [.added, .exists])
            #expect(text != #"{"a":2}"#)
        }
    }

    @Test(arguments: refused)
    func whatHasNoPlaceChangesNothing(
        _ object: String, _ step: Step, _ outcome: JSONDraft.Outcome
    ) throws {
        let (text, outcomes) = try result(object, [step])
        #expect(text == object && outcomes == [outcome])
    }
}
