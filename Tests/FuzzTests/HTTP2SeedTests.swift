import Testing

/// The inputs of the corpus for HTTP/2 reach what they are named after; the fuzzer begins with them.
@Suite struct HTTP2SeedTests {
    @Test(arguments: [
        ("connect", ["HEADERS 1"]),
        ("continuation", ["HEADERS 1 end"]),
        ("drain", ["GOAWAY 0", "PING", "DATA 1 end"]),
        ("drain-acknowledged", ["GOAWAY 0", "PING", "HEADERS 1 end"]),
        ("expanding", ["HEADERS 65", "GOAWAY 11"]),
        ("expect", ["HEADERS 1", "DATA 1 end"]),
        ("get", ["SETTINGS ack", "HEADERS 1 end"]),
        ("goaway-ends", ["DATA 1 end"]),
        ("huffman", ["HEADERS 1 end"]),
        ("interim", ["HEADERS 1", "DATA 1 end"]),
        ("late-trailers", ["HEADERS 3 end"]),
        ("left-out-id", ["GOAWAY 1"]),
        ("length", ["HEADERS 1", "DATA 1 end"]),
        ("malformed", ["RST_STREAM 1 1"]),
        ("malformed-trailers", ["RST_STREAM 1 1", "HEADERS 3 end"]),
        ("padded", ["HEADERS 1 end", "DATA 3 end"]),
        ("pings", ["PING ack"]),
        ("priority-zero", ["GOAWAY 1"]),
        ("refused-upload", ["HEADERS 1 end", "RST_STREAM 1 0"]),
        ("reset", ["HEADERS 3 end"]),
        ("reset-while-echo", ["DATA 1", "DATA 3 end"]),
        ("settings", ["HEADERS 1 end", "HEADERS 3 end"]),
        ("slow", ["HEADERS 1"]),
        ("stream-limit", ["RST_STREAM 17 7", "RST_STREAM 21 7", "HEADERS 23"]),
        ("streamed-upload", ["DATA 1 end"]),
        ("table", ["HEADERS 1 end", "HEADERS 3 end", "GOAWAY 9"]),
        ("trailers", ["DATA 1 end"]),
        ("upload", ["HEADERS 1", "DATA 1 end"]),
        ("websocket", ["HEADERS 1", "DATA 1", "DATA 1 end"]),
        ("websocket-reset", ["HEADERS 1", "DATA 1", "HEADERS 3 end"]),
        ("window-opens", ["DATA 1", "DATA 1 end"]),
        ("window-overflow", ["RST_STREAM 1 3", "GOAWAY 3"]),
        ("windows", ["DATA 1"]),
    ])
    func reachesItsSubject(_ name: String, _ expected: [String]) throws {
        let input = try #require(
            Corpus.inputs(of: .http2).first { $0.name == name }?.input)
        let run = try HTTP2Run(input)
        #expect(run.violation() == nil)
        let frames = run.transcript.frames
        for frame in expected { #expect(frames.contains(frame), "\(frames)") }
    }

    /// A response that follows its own end would be found.
    @Test func findsInvalidFrames() {
        let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
        let end: [UInt8] = [0, 0, 0, 1, 5, 0, 0, 0, 1]
        let body: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 1]
        let reset: [UInt8] = [0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 8]
        #expect(HTTP2Transcript(settings + end).violation == nil)
        #expect(HTTP2Transcript(settings + end).frames == ["SETTINGS", "HEADERS 1 end"])
        for bytes in [end, settings + end + body, settings + body, settings + reset + end] {
            #expect(HTTP2Transcript(bytes).violation != nil)
        }
    }
}
