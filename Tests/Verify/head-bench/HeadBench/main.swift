import Basics
import HTTP
import Peers

/// Prints the time to parse each head; with the arguments HEAD, PARSER and COUNT it only parses the head so
/// many times, for a tool that counts instructions.

/// What is done with the message of a sample, so many times on one connection.
enum Parser: String, CaseIterable {
    /// Including the allocation of the parsed head and its release.
    case tributary = "Tributary"
    /// What of this is not parsing: the copy of the text, the object of the head, and their release.
    case keeping
    /// Parses, and keeps nothing.
    case httpParser = "http_parser"
}

/// A message of one head, without a body.
struct Sample {
    let name: String
    let bytes: [UInt8]
    let isResponse: Bool

    static func request(_ name: String, _ lines: [String]) -> Sample {
        Sample(name: name, bytes: wireText(lines), isResponse: false)
    }

    static func response(_ name: String, _ lines: [String]) -> Sample {
        Sample(name: name, bytes: wireText(lines), isResponse: true)
    }

    private static func wireText(_ lines: [String]) -> [UInt8] {
        Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    func run(_ parser: Parser, times: Int) {
        switch parser {
        case .tributary where isResponse: readResponses(times)
        case .tributary: readRequests(times)
        case .keeping where isResponse: for _ in 0..<times { keepResponse(bytes.span) }
        case .keeping: for _ in 0..<times { keepRequest(bytes.span) }
        case .httpParser:
            let lines = unsafe bytes.withUnsafeBufferPointer { text in
                guard let first = text.baseAddress else { return -1 }
                return unsafe http_parser_field_lines(
                    first, text.count, isResponse ? 1 : 0, times)
            }
            precondition(lines >= times, "\(name) is refused")
        }
    }

    private func readRequests(_ times: Int) {
        var reader = RequestReader(limits: Limits())
        for _ in 0..<times {
            var position = 0
            guard case .head? = try? reader.read(bytes.span, from: &position),
                case .complete? = try? reader.read(bytes.span, from: &position)
            else { fatalError("\(name) is refused") }
        }
    }

    private func readResponses(_ times: Int) {
        var reader = ResponseReader(limits: Limits())
        for _ in 0..<times {
            var position = 0
            guard case .head? = try? reader.read(bytes.span, from: &position),
                case .complete? = try? reader.read(bytes.span, from: &position)
            else { fatalError("\(name) is refused") }
        }
    }
}

/// A copy of the text, and a head that shares it with its target.
@inline(never)
func keepRequest(_ bytes: Span<UInt8>) {
    let text = copy(bytes)
    let target = Target(assembled: Bytes(text)[4..<16], pathEnd: 12)
    hold(
        RequestHead(
            method: .get, target: target, version: .http11,
            fields: Fields(text: text, linesStart: 27), keepsAlive: true, framing: .none,
            expectsContinue: false))
}

@inline(never)
func keepResponse(_ bytes: Span<UInt8>) {
    hold(Fields(text: copy(bytes), linesStart: 17))
}

func copy(_ bytes: Span<UInt8>) -> [UInt8] {
    unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
}

/// The compiler must make the value.
@inline(never)
func hold<Value>(_ value: Value) {}

let samples: [Sample] = [
    .request(
        "curl",
        [
            "GET /products/42 HTTP/1.1", "Host: gateway.shop.example.com:8080",
            "User-Agent: curl/7.88.1", "Accept: */*",
        ]),
    .request(
        "browser",
        [
            "GET /products/42?fields=name,price&currency=EUR HTTP/1.1", "Host: shop.example.com",
            "Connection: keep-alive",
            #"sec-ch-ua: "Chromium";v="128", "Not;A=Brand";v="24", "Google Chrome";v="128""#,
            "sec-ch-ua-mobile: ?0", #"sec-ch-ua-platform: "Linux""#,
            "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
                + "Chrome/128.0.0.0 Safari/537.36",
            "Accept: application/json, text/plain, */*",
            "Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: empty",
            "Referer: https://shop.example.com/products",
            "Accept-Encoding: gzip, deflate, br, zstd",
            "Accept-Language: en-GB,en;q=0.9,de;q=0.8",
            "Cookie: session=8f14e45fceea167a5a36dedd4bea2543; consent=essential; theme=dark; "
                + "basket=c9f0f895fb98ab9159f51fd0297e236d",
            "Priority: u=1, i", "Cache-Control: no-cache",
        ]),
    .response(
        "response",
        [
            "HTTP/1.1 200 OK", "Server: backend", "Date: Sun, 06 Nov 1994 08:49:37 GMT",
            "Content-Type: application/json", "Connection: keep-alive", "Content-Length: 0",
        ]),
]

/// The least time for one head, in nanoseconds: other load on the machine only adds to it.
func nanoseconds(_ sample: Sample, _ parser: Parser) -> Double {
    let times = 20_000
    let rounds = (0..<200).map { _ in
        ContinuousClock().measure { sample.run(parser, times: times) }
    }
    return (rounds.min() ?? .zero) / .nanoseconds(times)
}

let arguments = CommandLine.arguments.dropFirst().map(\.self)
if arguments.count == 3, let parser = Parser(rawValue: arguments[1]), let count = Int(arguments[2]),
    let sample = samples.first(where: { $0.name == arguments[0] })
{
    sample.run(parser, times: count)
} else {
    print("| head | bytes | Tributary, ns | only keeping it, ns | http_parser, ns |")
    print("|---|---|---|---|---|")
    for sample in samples {
        let times = Parser.allCases.map { parser in
            "\((nanoseconds(sample, parser) * 10).rounded() / 10)"
        }
        print("| \(sample.name) | \(sample.bytes.count) | \(times.joined(separator: " | ")) |")
    }
}
