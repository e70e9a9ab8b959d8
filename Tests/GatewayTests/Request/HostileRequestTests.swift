import Basics
import HTTP
import JSONText
import Testing

@testable import Gateway

/// Requests composed of pieces that break parsers: each is accepted or refused with reasons.
@Suite struct HostileRequestTests {
    static let pieces = [
        "%", "%0", "%00", "%2F", "%2e", ".", "..", "/", "//", "&", "=", "+", "?", "n", "id", "7",
        "-", "e", "9999999999999999999999", "%FF", "%C3%A9", "a", "1e-99999999999999999999", ";",
    ]

    @Test(arguments: UInt64(1)...20)
    func everyTargetIsReadOrRefused(seed: UInt64) throws {
        let entropy = Entropy(seed: seed)
        let route = route("GET /x/{id}/{name}")
        let router = Router([(route, 0)])
        let plans = try ParamPlan.all(
            of: [
                param("id", .integer) { $0.max = number("10") },
                param("n", .number) { $0.min = number("-1.5") },
                param("a") { $0.pattern = located("\\w+") },
            ], route: route)
        var matched = 0
        for _ in 0..<500 {
            let text =
                ["/x/", "/x/7/", "/x/7/a?n=", "/"][entropy.below(4)]
                + (0..<entropy.below(8)).map { _ in Self.pieces[entropy.below(Self.pieces.count)] }
                .joined()
            guard let target = Target(text) else { continue }
            guard router.match(.get, target.path) == .endpoint(0) else { continue }
            matched += 1
            let head = RequestHead(method: .get, target: target)
            do {
                let params = try Params(plans, of: head)
                #expect(try #require(params[0]).isSane && #require(params[1]).isSane, "\(text)")
            } catch {
                let json = try JSONSlice(validating: #require(error as? InvalidRequest).json)
                #expect(json.kind == .array && !json.elements.makeIterator().isAtEnd, "\(text)")
            }
        }
        #expect(matched > 20)
    }

    @Test(arguments: UInt64(1)...20)
    func everyBodyIsReadOrRefused(seed: UInt64) throws {
        let entropy = Entropy(seed: seed)
        var body = Config.Body(location: somewhere)
        body.properties = [
            property("a", .integer) { $0.max = number("1e3") },
            property("b") {
                $0.properties = [property("c", .string) { $0.maxLength = located(2) }]
            },
        ]
        let plan = try BodyPlan(body)
        let pieces = [
            "{", "}", #""a""#, ":", ",", "1", "-1e9", #""b""#, #"{"c":"x"}"#, "[", "]", #""c""#,
            "null",
            #""\u0061":7"#, " ", "\"", "\\",
        ]
        for _ in 0..<500 {
            let text =
                "{"
                + (0..<entropy.below(9)).map { _ in pieces[entropy.below(pieces.count)] }
                .joined() + "}"
            do {
                let value = try plan.check(Bytes(text))
                #expect(value.kind == .object, "\(text)")
            } catch {
                #expect(!error.errors.isEmpty, "\(text)")
            }
        }
    }
}

extension Bytes {
    fileprivate var isSane: Bool { !isEmpty && self != Bytes("..") && self != Bytes(".") }
}

extension JSONElements.Iterator {
    fileprivate var isAtEnd: Bool {
        var copy = self
        return copy.next() == nil
    }
}
