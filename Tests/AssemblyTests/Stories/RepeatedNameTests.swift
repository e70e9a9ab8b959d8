import TestSupport
import Testing
import WorkerSupport

/// A name that occurs twice in an object of the body, and that the gateway reads: another reader may take
/// the other value.
@Suite(.watched) struct RepeatedNameTests {
    private func harness(_ call: String, _ endpoint: String = "") throws -> GatewayHarness {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1, \(call), at: . }", endpoint: "route: POST /x\n" + endpoint,
            top: "rate_limits: { user: { rate: 2/h, key: \"{request.body.user.id}\" } }")
        harness.on("/1", .ok("{}"))
        return harness
    }

    private static let repeated = [
        #"{"user":{"id":"a"},"user":{"id":"b"}}"#, #"{"user":{"id":"a","id":"b"}}"#,
        #"{"user":{"id":"a","\u0069d":"b"}}"#, #"{"\u0075ser":1,"user":{"id":"b"}}"#,
        #"{"user":{"id":"a","x":1,"id":"a"}}"#,
    ]
    private static let unread =
        #"{"user":{"id":"a","x":{"id":1,"id":2}},"x":1,"x":2,"y":[{"user":1,"user":2}]}"#

    /// References in a path, a header, a body and a condition.
    @Test(arguments: [
        "headers: { X-User: \"{request.body.user.id}\" }, body: \"{request.body}\"",
        "body: { id: \"{request.body.user.id}\" }", "body: { id: \"{request.body.user.id?}\" }",
        "body: \"{request.body}\", when: { value: \"{request.body.user.id}\", is: a }",
    ])
    func referenceRefusesIt(_ call: String) throws {
        let harness = try harness(call)
        for body in Self.repeated {
            let response = try harness.fetch(post(body))
            #expect(response.status == 400, "\(body)")
            #expect(response.body.contains(#""reason":"must be given once""#))
        }
        #expect(harness.seen.isEmpty)
        #expect(try harness.fetch(post(Self.unread)).status == 200)
        harness.expectQuiet()
    }

    @Test func theResponseNamesIt() throws {
        let harness = try harness("body: { id: \"{request.body.user.id}\" }")
        #expect(
            try harness.fetch(post(Self.repeated[0])).body.contains(
                #"[{"in":"body","name":"user","reason":"must be given once"}]"#))
        #expect(
            try harness.fetch(post(Self.repeated[1])).body.contains(
                #"[{"in":"body","name":"user.id","reason":"must be given once"}]"#))
        harness.expectQuiet()
    }

    @Test func limitRefusesIt() throws {
        let harness = try harness("body: \"{request.body}\"", "rate_limits: [user]")
        for body in Self.repeated { #expect(try harness.fetch(post(body)).status == 400) }
        #expect(try harness.fetch(post(Self.unread)).status == 200)
        #expect(try harness.fetch(post(Self.unread)).status == 200)
        #expect(try harness.fetch(post(Self.unread)).status == 429)
        harness.expectQuiet()
    }

    @Test func conditionOfALimitRefusesIt() throws {
        let harness = try harness(
            "body: \"{request.body}\"",
            "rate_limits: [{ limit: user, when: { value: \"{request.body.role}\", is: x } }]")
        #expect(try harness.fetch(post(#"{"role":"x","role":"y"}"#)).status == 400)
        #expect(try harness.fetch(post(#"{"role":"y"}"#)).status == 200)
        harness.expectQuiet()
    }

    /// The schema reads one name, a reference another one.
    @Test func schemaAndReferencesAreBothChecked() throws {
        let harness = try harness(
            "body: { id: \"{request.body.user.id}\" }",
            "body: { type: object, properties: { role: { type: string } } }")
        #expect(try harness.fetch(post(#"{"role":"a","role":"b","user":{"id":1}}"#)).status == 400)
        #expect(try harness.fetch(post(#"{"role":"a","user":{"id":1,"id":2}}"#)).status == 400)
        #expect(try harness.fetch(post(#"{"role":"a","user":{"id":1}}"#)).status == 200)
        harness.expectQuiet()
    }

    /// A body that is passed on as it is, and that the gateway does not read.
    @Test func wholeBodyPasses() throws {
        let harness = try harness("body: \"{request.body}\"")
        #expect(try harness.fetch(post(Self.repeated[0])).status == 200)
        harness.expectQuiet()
    }
}
