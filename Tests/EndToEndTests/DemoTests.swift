import Foundation
import Testing

extension EndToEnd {
    /// What somebody meets who runs `tributary serve` and nothing else.
    @Suite struct DemoTests {
        @Test func printsExamplesWithItsAddress() throws {
            let daemon = try Daemon.demo()
            let first = try daemon.output.line("the tour") { $0.hasPrefix("  curl ") }
            #expect(first.hasPrefix("  curl -i http://\(daemon.address)/products/42 "))
        }

        /// The flaky and the slow backend keep a rhythm, so a run of six shows everything.
        @Test func productSurvivesFailuresOfOptionalCalls() throws {
            let daemon = try Daemon.demo()
            for number in 1...6 {
                let answer = try daemon.ask("GET /products/42")
                #expect(answer.status == 200)
                let json = try #require(
                    try JSONSerialization.jsonObject(with: Data(answer.body.utf8))
                        as? [String: Any])
                #expect((json["product"] as? [String: Any])?["name"] as? String == "Lamp")
                #expect(json["reviews"] is [Any], "the second try answers in time")
                let isFlaky = number % 3 == 0
                #expect(answer["Gateway-Complete"] == (isFlaky ? "false" : "true"))
                #expect((json["stock"] is NSNull) == isFlaky)
                #expect((json["_gateway"] != nil) == isFlaky)
                #expect(answer["Server-Timing"]?.contains("product;dur=") == true)
            }
        }

        @Test(arguments: [
            ("GET /products/7", 404, #""kind":"unexpected_status","status":404"#),
            ("GET /products/x", 400, #""in":"path","name":"id","reason":"must be an integer"#),
        ]) func failuresAreProblemDocuments(_ request: String, _ status: Int, _ part: String) throws
        {
            let answer = try Daemon.demo().ask(request)
            #expect(answer.status == status)
            #expect(answer["Content-Type"] == "application/problem+json")
            #expect(answer.body.contains(part), "\(answer.body)")
        }

        @Test func dependentCallUsesTheOtherResponse() throws {
            let answer = try Daemon.demo().ask("GET /home")
            #expect(answer.status == 200 && answer["Gateway-Complete"] == "true")
            #expect(
                answer.body
                    == #"{"profile":{"name":"Ann","segment":"lamps"},"#
                    + #""news":["Lamps are back","Free shipping"],"#
                    + #""recommended":[{"id":42},{"id":43}]}"#)
        }

        @Test(arguments: [("good", 200, #"{"token":"t1"}"#), ("bad", 401, nil)])
        func loginTakesMinDuration(_ password: String, _ status: Int, _ body: String?) throws {
            let daemon = try Daemon.demo()
            let start = ContinuousClock.now
            let answer = try daemon.ask(
                "POST /login", body: #"{"user":"ann","password":"\#(password)"}"#)
            #expect(answer.status == status)
            #expect(ContinuousClock.now - start >= .milliseconds(399))
            if let body { #expect(answer.body == body) }
        }

        @Test func demoRefusesReload() throws {
            let daemon = try Daemon.demo()
            #expect(try daemon.askAdmin("POST /-/reload").status == 409)
        }
    }
}
