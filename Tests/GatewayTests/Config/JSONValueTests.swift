import Basics
import Testing

@testable import Gateway

/// Values that are stored as JSON: `if_failed`, and bodies with references.
@Suite struct JSONValueTests {
    @Test(arguments: [
        ("[]", "[]"), ("{}", "{}"), ("null", "null"), ("~", "null"), ("", "null"), ("true", "true"),
        ("text", #""text""#), ("\"5\"", #""5""#), ("yes", #""yes""#),
        ("19.90", "19.90"), ("9007199254740993", "9007199254740993"), ("1e400", "1e400"),
        ("-0", "-0"),
        ("0x1F", "31"), ("+7", "7"), ("007", "7"), (".5", "0.5"), ("-.5", "-0.5"), ("1.", "1"),
        ("1.e3", "1e3"),
        (#"{ "amount": 0, known: [a, "b\n", 1.0] }"#, #"{"amount":0,"known":["a","b\n",1.0]}"#),
        ("${N}", "5"), ("\"${N}\"", "5"),
    ])
    func ifFailed(_ yaml: String, json: String) throws {
        let outcome = load(["c.yaml": Snippet.call("if_failed: \(yaml)")], environment: ["N": "5"])
        #expect(
            try #require(outcome.config).endpoints[0].calls[0].ifFailed?.value
                == .value(Bytes(json)))
    }

    @Test(arguments: ["omit", "\"omit\""]) func ifFailedOmit(_ yaml: String) throws {
        let outcome = load(["c.yaml": Snippet.call("if_failed: \(yaml)")])
        #expect(try #require(outcome.config).endpoints[0].calls[0].ifFailed?.value == .omit)
    }

    @Test func refusesDuplicateKeysInValues() {
        #expect(
            problems(Snippet.call("if_failed: { a: 1, a: 2 }"))
                == ["8:28: error: duplicate key 'a' in call 'one', first seen in line 8"])
    }

    @Test(arguments: [
        ("\"{request.body}\"", "<request.body>"),
        ("{ user: \"{id}\" }", #"{"user":<id>}"#),
        (
            "{ user: \"a {id} \\\" b\", n: 1.50, t: [true, \"{{x}}\"] }",
            #"{"user":"a <<id>> \" b","n":1.50,"t":[true,"{x}"]}"#
        ),
        ("\"{request.body?}\"", "<request.body?>"),
        (
            "{ a: \"{id}\", b: \"{request.body.b?}\", c: [1, \"{request.body.c?}\"], d: \"x{id}\" }",
            #"{"a":<id><"b":request.body.b?><,>"c":[1<request.body.c?>]<,>"d":"x<<id>>"}"#
        ),
        ("'{\"a\":1}'", #"{"a":1}"#),
        ("plain text", "plain text"),
        ("5", "5"),
        ("{}", "{}"),
        ("[]", "[]"),
    ])
    func body(_ yaml: String, pieces: String) throws {
        let text = Snippet.call("body: \(yaml)", method: "post", route: "POST /x/{id}")
        let body = try #require(load(["c.yaml": text]).config?.endpoints[0].calls[0].body)
        let outline = body.pieces.map { piece in
            switch piece {
            case .literal(let text): text
            case .value(let reference, _): "<\(reference.text)>"
            case .insideString(let reference, _): "<<\(reference.text)>>"
            case .comma: "<,>"
            case .optionalEntry(let key, let reference, _): "<\(key)\(reference.text)>"
            }
        }
        #expect(outline.joined() == pieces)
    }
}
