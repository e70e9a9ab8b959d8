import Basics
import HTTP
import Testing

/// Valid messages with changed, dropped and doubled bytes: the result does not depend on how the
/// bytes arrive, and nothing traps.
@Suite struct MutationTests {
    private static let seeds = [
        get("/a/b?c=d", "Accept: */*\r\nConnection: keep-alive\r\n"),
        post("Content-Length: 5\r\n", "hello") + get(),
        post("Transfer-Encoding: chunked\r\n", "5;x=y\r\nhello\r\n0\r\nT: 1\r\n\r\n") + get(),
        "OPTIONS http://a:80/x HTTP/1.0\r\nExpect: 100-continue\r\n\r\n",
    ]
    private static let responses = [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\nhello",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        "HTTP/1.0 404 Not Found\r\n\r\nhello",
    ]

    private func mutated(_ text: String, _ entropy: Entropy) -> [UInt8] {
        var bytes = latin1(text)
        for _ in 0...entropy.below(3) {
            let place = entropy.below(bytes.count)
            switch entropy.below(5) {
            case 0: bytes[place] = UInt8(entropy.below(256))
            case 1: bytes.remove(at: place)
            case 2: bytes.insert(bytes[place], at: place)
            case 3: bytes.insert(Array("\r\n :;,0\0\t5".utf8)[entropy.below(10)], at: place)
            default: bytes[place] = Array("\r\n :;,0\0\t5".utf8)[entropy.below(10)]
            }
            if bytes.isEmpty { bytes = [0] }
        }
        return bytes
    }

    @Test(arguments: 0..<UInt64(16))
    func mutatedMessagesAreReadEquallyHoweverTheyArrive(seed: UInt64) {
        let entropy = Entropy(seed: seed)
        for _ in 0..<60 {
            let request = mutated(Self.seeds[entropy.below(Self.seeds.count)], entropy)
            let cut = entropy.below(request.count)
            let whole = transcript(ofRequests: [request], thenEnds: true)
            #expect(whole == transcript(ofRequests: request.map { [$0] }, thenEnds: true))
            let halves = [Array(request[..<cut]), Array(request[cut...])]
            #expect(whole == transcript(ofRequests: halves, thenEnds: true))

            let response = mutated(Self.responses[entropy.below(Self.responses.count)], entropy)
            let expected = transcript(ofResponses: [response], thenEnds: true)
            #expect(expected == transcript(ofResponses: response.map { [$0] }, thenEnds: true))
        }
    }
}
