import TestSupport
import Testing
import WorkerSupport

/// `at`: where the response of a call is put.
@Suite(.watched) struct PlaceTests {
    /// The response of calls, written as `name:, options`, whose backends respond with these bodies; nil fails.
    private func fetch(_ calls: [(call: String, body: String?)]) throws -> ReceivedResponse {
        let lines = calls.enumerated().map { index, entry in
            let name = entry.call.prefix { $0 != ":" }
            let options = entry.call.dropFirst(name.count + 1)
            return "\(name): { from: a, get: /\(index)\(options) }"
        }
        let harness = try GatewayHarness(lines.joined(separator: "\n"))
        for (index, entry) in calls.enumerated() {
            harness.on("/\(index)", entry.body.map { .ok($0) } ?? .status(500))
        }
        let response = try harness.fetch()
        harness.expectQuiet()
        return response
    }

    private func body(_ calls: [(call: String, body: String?)]) throws -> String {
        let response = try fetch(calls)
        let body = response.body
        // Without the report.
        return body.firstRange(of: #","_gateway""#).map { String(body[..<$0.lowerBound]) + "}" }
            ?? body
    }

    static let geo = (call: "geo:, at: user.address", body: #"{"city":"B"}"# as String?)

    @Test func aPathLeadsIntoAnotherPart() throws {
        // The bytes of the other part stay.
        #expect(
            try body([("user:", #"{ "name" : "A", "n":1.50 }"#), Self.geo])
                == #"{"user":{ "name" : "A", "n":1.50,"address":{"city":"B"} }}"#)
        #expect(try body([("user:", "{ }"), Self.geo]) == #"{"user":{"address":{"city":"B"} }}"#)
        // The order of the file decides about the order of members only.
        #expect(
            try body([Self.geo, ("user:", #"{"a":1}"#), ("x:", "2")])
                == #"{"user":{"a":1,"address":{"city":"B"}},"x":2}"#)
    }

    @Test func objectsOnThePathAreMade() throws {
        #expect(
            try body([
                ("x:", "1"), ("deep:, at: a.b.c", "[]"), ("other:, at: a.d", "0"), ("y:", "2"),
            ])
                == #"{"x":1,"a":{"b":{"c":[]},"d":0},"y":2}"#)
        #expect(try body([("x:, at: '\"a.b\".c'", "1")]) == #"{"a.b":{"c":1}}"#)
    }

    /// As if the other part were an empty object.
    @Test func aPathLeadsIntoAFailedPart() throws {
        #expect(try body([("user:", nil), Self.geo]) == #"{"user":{"address":{"city":"B"}}}"#)
        #expect(
            try body([("user:, if_failed: omit", nil), Self.geo, ("x:", "1")])
                == #"{"user":{"address":{"city":"B"}},"x":1}"#)
        #expect(try body([("user:", "null"), Self.geo]) == #"{"user":{"address":{"city":"B"}}}"#)
    }

    @Test func aFailedCallLeavesItsFallbackUnderThePath() throws {
        let calls = { (fallback: String) in
            [("user:", #"{"a":1}"#), ("geo:, at: user.address\(fallback)", nil)]
                as [(String, String?)]
        }
        #expect(try body(calls("")) == #"{"user":{"a":1,"address":null}}"#)
        #expect(try body(calls(", if_failed: omit")) == #"{"user":{"a":1}}"#)
        #expect(try body(calls(", if_failed: {}")) == #"{"user":{"a":1,"address":{}}}"#)
        // The null of a failed call hides nothing, and a later call takes its place.
        #expect(
            try body([("user:", #"{"address":1}"#), ("geo:, at: user.address", nil)])
                == #"{"user":{"address":1}}"#)
        #expect(
            try body([
                ("user:", "{}"), ("geo:, at: user.address", nil), ("other:, at: user.address", "2"),
            ]) == #"{"user":{"address":2}}"#)
    }

    @Test func aTakenKeyIsACollision() throws {
        let calls = { (more: String) in
            [("user:", #"{"address":1}"#), ("geo:, at: user.address\(more)", "2")]
                as [(String, String?)]
        }
        for more in ["", ", on_collision: fail"] {
            let response = try fetch(calls(more))
            #expect(
                response.body == #"{"user":{"address":1},"_gateway":{"complete":\#(more.isEmpty),"#
                    + #""failures":[{"call":"geo","kind":"collision","key":"address"}]}}"#)
        }
        #expect(try fetch(calls(", on_collision: fail, required: true")).status == 502)
    }

    @Test(arguments: ["1", "[]", #""text""#])
    func aPathThroughAnotherValueFailsTheCall(_ user: String) throws {
        let response = try fetch([("user:", user), Self.geo])
        #expect(
            response.body == #"{"user":\#(user),"_gateway":{"complete":false,"failures":["#
                + #"{"call":"geo","kind":"invalid_shape"}]}}"#)
        #expect(
            try fetch([("user:", user), ("geo:, at: user.a, required: true", "1")]).status == 502)
    }

    @Test func aPlainNameIsAKeyOfTheRoot() throws {
        #expect(try body([("a:, at: profile", "1"), ("b:", "2")]) == #"{"profile":1,"b":2}"#)
        let response = try fetch([("a:, at: x", "1"), ("b:, at: x", "2")])
        #expect(
            response.body == #"{"x":1,"_gateway":{"complete":true,"failures":["#
                + #"{"call":"b","kind":"collision","key":"x"}]}}"#)
        #expect(try body([("a:, at: x", nil), ("b:, at: x", "2")]) == #"{"x":2}"#)
        #expect(try body([("a:, at: x", "1"), ("b:, at: x", nil)]) == #"{"x":1}"#)
        #expect(
            try fetch([("a:, at: x", "1"), ("b:, at: x, on_collision: fail", "2")])[
                "Gateway-Complete"]
                == "false")
    }

    @Test func arraysAreAppendedInTheOrderOfTheFile() throws {
        let calls = { (first: String?, second: String?) in
            [("en:, at: \"news[]\"", first), ("x:", "1"), ("de:, at: \"news[]\"", second)]
                as [(String, String?)]
        }
        #expect(try body(calls("[ 1, {} ]", "[\"d\"]")) == #"{"news":[ 1, {},"d" ],"x":1}"#)
        #expect(try body(calls("[]", "[2]")) == #"{"news":[2],"x":1}"#)
        #expect(try body(calls("[1]", "[]")) == #"{"news":[1],"x":1}"#)
        #expect(try body(calls(nil, "[2]")) == #"{"news":[2],"x":1}"#)
        #expect(try body(calls(nil, nil)) == #"{"news":[],"x":1}"#)
        let omit = "at: \"news[]\", if_failed: omit"
        #expect(
            try body([("a:, \(omit)", nil), ("x:", "1"), ("b:, \(omit)", nil)])
                == #"{"news":[],"x":1}"#)
        #expect(try body([("a:, \(omit)", nil), ("b:, \(omit)", "[2]")]) == #"{"news":[2]}"#)
        #expect(
            try body([("a:, at: \"p.q[]\", if_failed: omit", nil), ("x:", "1")])
                == #"{"p":{"q":[]},"x":1}"#)
        #expect(
            try body([("a:, at: \"p.q[]\"", "[1]"), ("b:, at: \"p.q[]\"", "[2]")])
                == #"{"p":{"q":[1,2]}}"#)
        // A part that is an array itself.
        #expect(try body([("news:", "[0]"), ("a:, at: \"news[]\"", "[1]")]) == #"{"news":[0,1]}"#)
    }

    @Test func onlyArraysAreAppended() throws {
        let response = try fetch([("a:, at: \"x[]\"", "{}"), ("b:, at: \"x[]\"", "[1]")])
        #expect(
            response.body == #"{"x":[1],"_gateway":{"complete":false,"failures":["#
                + #"{"call":"a","kind":"invalid_shape"}]}}"#)
        #expect(
            try fetch([("x:", "{}"), ("a:, at: \"x[]\"", "[1]")]).failures
                == #"[{"call":"a","kind":"invalid_shape"}]"#)
    }

    /// Its values can be used by other calls.
    @Test func nothingIsPutAtNone() throws {
        let harness = try GatewayHarness(
            """
            token: { from: a, get: /token, at: none, required: true }
            user: { from: a, get: "/user?t={token.id}" }
            """)
        harness.on("/token", .ok(#"{"id":7}"#))
        let response = try harness.fetch()
        #expect(response.body == #"{"user":"/user?t=7"}"#)
        #expect(harness.seen.map(\.target) == ["/token", "/user?t=7"])
        harness.expectQuiet()
    }

    @Test func mergedMembersAreFoundByPaths() throws {
        #expect(
            try body([Self.geo, ("a:, at: .", #"{"user":{"a":1}}"#)])
                == #"{"user":{"a":1,"address":{"city":"B"}}}"#)
    }
}
