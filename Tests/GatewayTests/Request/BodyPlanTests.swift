import Basics
import JSONText
import Testing

@testable import Gateway

@Suite struct BodyPlanTests {
    func body(_ fill: (inout Config.Body) -> Void) throws -> BodyPlan {
        var body = Config.Body(location: somewhere)
        fill(&body)
        return try BodyPlan(body)
    }

    func login() throws -> BodyPlan {
        try body {
            $0.type = located(.object)
            $0.required = [located("user"), located("password")]
        }
    }

    func order() throws -> BodyPlan {
        try body {
            $0.type = located(.object)
            $0.required = [located("note"), located("customer")]
            $0.properties = [
                property("customer", .object) {
                    $0.required = [located("name")]
                    $0.properties = [
                        property("name", .string) {
                            $0.minLength = located(1)
                            $0.maxLength = located(3)
                        },
                        property("zip", .string) { $0.pattern = located("\\d{5}") },
                    ]
                },
                property("count", .integer) {
                    $0.min = number("1")
                    $0.max = number("10")
                },
                property("price", .number) { $0.min = number("0.5") },
                property("size") { $0.oneOf = [located("S"), located("M")] },
                property("items", .array),
                property("gift", .boolean),
                property("nothing", .null),
            ]
        }
    }

    func refused(_ plan: BodyPlan, _ text: String) -> [String] {
        refusals { _ = try plan.check(Bytes(text)) }
    }

    /// Other readers may take the first value.
    @Test(arguments: [
        (#"{"user":"a","user":"b","password":"c"}"#, "body user must be given once"),
        (#"{"user":"a","\u0075ser":"a","password":"c"}"#, "body user must be given once"),
        (#"{"user":"a","password":"c","user":null,"user":1}"#, "body user must be given once"),
    ])
    func refusesANameThatOccursTwice(_ text: String, _ error: String) throws {
        #expect(refused(try login(), text) == [error])
    }

    @Test func refusesANestedNameThatOccursTwice() throws {
        let note = #""note":1"#
        #expect(
            refused(try order(), #"{\#(note),"customer":{"name":"a","name":"b"}}"#)
                == ["body customer.name must be given once"])
        #expect(
            refused(try order(), #"{\#(note),"customer":{"name":"a"},"customer":{"name":"b"}}"#)
                == ["body customer must be given once"])
        // What the schema does not read is not its concern.
        #expect(
            refused(
                try order(), #"{\#(note),"customer":{"name":"a"},"x":1,"x":{"name":1,"name":2}}"#)
                == [])
    }

    @Test func returnsTheValueUnchanged() throws {
        let value = try login().check(Bytes(" {\"user\": \"a\",\"password\":1e400}\n"))
        #expect(value.bytes == Bytes("{\"user\": \"a\",\"password\":1e400}"))
    }

    @Test(arguments: [
        ("", "body is required"), (" ", "body must be JSON"), ("nope", "body must be JSON"),
        ("{} x", "body must be JSON"), (#"{"a":1,}"#, "body must be JSON"),
        (#""\ud800""#, "body must be JSON"), ("[1]", "body must be an object"),
        ("null", "body must be an object"),
    ])
    func refusesAnInvalidBody(_ text: String, _ reason: String) throws {
        #expect(try refused(login(), text) == [reason])
    }

    @Test func everyMissingNameIsListed() throws {
        #expect(
            try refused(login(), "{}") == ["body user is required", "body password is required"])
        #expect(try refused(login(), #"{"\u0075ser":null}"#) == ["body password is required"])
    }

    @Test(arguments: [
        #"{"customer":{"name":"Ann"},"note":null}"#,
        #"{"customer":{"name":"\u00e9\u00e9\ud83d\ude00","zip":"12345"},"note":{"any":[1]}}"#,
        #"{"customer":{"name":"A"},"note":0,"count":1.0,"price":0.50,"size":"S","items":[],"gift":true,"nothing":null}"#,
        #"{"customer":{"name":"A"},"note":0,"count":1e1,"unknown":{"deep":[[[]]]}}"#,
    ])
    func accepts(_ text: String) throws {
        #expect(try refused(order(), text) == [])
    }

    @Test func everyViolationIsListedInFileOrder() throws {
        let text = """
            {"nothing":0,"gift":"true","items":{},"size":"L","price":0.49999999999999999999,
             "count":1.5,"customer":{"zip":"1234","name":"Anna"}}
            """
        #expect(
            try refused(order(), text) == [
                "body customer.name must have 1 to 3 characters",
                "body customer.zip must match \\d{5}",
                "body count must be an integer from 1 to 10",
                "body price must be a number of at least 0.5",
                "body size must be one of S, M",
                "body items must be an array",
                "body gift must be true or false",
                "body nothing must be null",
                "body note is required",
            ])
    }

    @Test(arguments: [
        (#""count":"5""#, "body count must be an integer from 1 to 10"),
        (#""count":null"#, "body count must be an integer from 1 to 10"),
        (#""count":11"#, "body count must be an integer from 1 to 10"),
        (#""customer":null"#, "body customer must be an object"),
        (#""size":["S"]"#, "body size must be one of S, M"),
        (#""customer":{"name":5}"#, "body customer.name must be a string"),
    ])
    func refusesOneValue(_ member: String, _ reason: String) throws {
        let customer = member.hasPrefix(#""customer""#) ? "" : #""customer":{"name":"A"},"#
        let text = #"{\#(customer)"note":0,\#(member)}"#
        #expect(try refused(order(), text) == [reason])
    }

    @Test func propertyWithMembersIsAnObject() throws {
        let plan = try body {
            $0.properties = [
                property("a") { $0.required = [located("b")] },
                property("c"),
            ]
        }
        #expect(refused(plan, "[]") == ["body must be an object"])
        #expect(refused(plan, #"{"a":1,"c":[]}"#) == ["body a must be an object"])
        #expect(refused(plan, #"{"a":{},"c":[]}"#) == ["body a.b is required"])
    }

    @Test func emptySchemaAcceptsAnyJSON() throws {
        let plan = try body { _ in }
        #expect(refused(plan, "[1]") == [])
        #expect(refused(plan, "") == ["body is required"])
    }

    @Test func bodyDeeperThanItsSchemaIsAccepted() throws {
        let deep = String(repeating: "[", count: 500) + String(repeating: "]", count: 500)
        #expect(try refused(order(), #"{"customer":{"name":"A"},"note":\#(deep)}"#) == [])
    }
}
