import Foundation
import Testing

extension EndToEnd {
    /// `tributary serve` without a configuration.
    @Suite struct DemoTests {
        @Test func printsExamplesWithItsAddress() throws {
            let daemon = try Daemon.demo()
            let first = try daemon.output.line("the examples") { $0.hasPrefix("  curl ") }
            #expect(first.hasPrefix("  curl -i http://\(daemon.address)/products/42 "))
            let page = try daemon.output.line("the page") { $0.hasPrefix("  http://") }
            #expect(page.hasPrefix("  http://\(daemon.admin)/ "))
        }

        /// The backends fail and are slow at fixed intervals, so six requests show all cases.
        @Test func productSurvivesFailuresOfOptionalCalls() throws {
            let daemon = try Daemon.demo()
            for number in 1...6 {
                let response = try daemon.request("GET /products/42")
                #expect(response.status == 200)
                let json = try #require(
                    try JSONSerialization.jsonObject(with: Data(response.body.utf8))
                        as? [String: Any])
                #expect((json["product"] as? [String: Any])?["name"] as? String == "Lamp")
                #expect(json["reviews"] is [Any], "the hedge responds in time")
                let isFlaky = number % 3 == 0
                #expect(response["Gateway-Complete"] == (isFlaky ? "false" : "true"))
                #expect((json["stock"] is NSNull) == isFlaky)
                #expect((json["_gateway"] != nil) == isFlaky)
                #expect(response["Server-Timing"]?.contains("product;dur=") == true)
            }
        }

        @Test(arguments: [
            ("GET /products/7", 404, #""kind":"unexpected_status","status":404"#),
            ("GET /products/x", 400, #""in":"path","name":"id","reason":"must be an integer"#),
        ]) func failuresAreProblemDocuments(_ request: String, _ status: Int, _ part: String) throws
        {
            let response = try Daemon.demo().request(request)
            #expect(response.status == status)
            #expect(response["Content-Type"] == "application/problem+json")
            #expect(response.body.contains(part), "\(response.body)")
        }

        @Test func dependentCallUsesTheOtherResponse() throws {
            let response = try Daemon.demo().request("GET /home")
            #expect(response.status == 200 && response["Gateway-Complete"] == "true")
            #expect(
                response.body
                    == #"{"profile":{"name":"Ann","segment":"lamps"},"#
                    + #""news":["Lamps are back","Free shipping"],"#
                    + #""recommended":[{"id":42},{"id":43}]}"#)
        }

        @Test(arguments: [("good", 200, #"{"token":"t1"}"#), ("bad", 401, nil)])
        func loginTakesMinDuration(_ password: String, _ status: Int, _ body: String?) throws {
            let daemon = try Daemon.demo()
            let start = ContinuousClock.now
            let response = try daemon.request(
                "POST /login", body: #"{"user":"ann","password":"\#(password)"}"#)
            #expect(response.status == status)
            #expect(ContinuousClock.now - start >= .milliseconds(399))
            if let body { #expect(response.body == body) }
        }

        @Test func demoRefusesReload() throws {
            let daemon = try Daemon.demo()
            #expect(try daemon.requestAdmin("POST /-/reload").status == 409)
        }
    }
}
