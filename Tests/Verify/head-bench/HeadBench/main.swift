import HTTP

/// Prints the time to parse each head; with the arguments HEAD and COUNT it only parses the head so many
/// times, for a tool that counts instructions.
///
/// The time includes the allocation of the parsed head and its release.

/// A message of one head, without a body.
struct Sample {
    let name: String
    let bytes: [UInt8]
    /// Parses the message so many times on one connection.
    let parse: ([UInt8], _ times: Int) -> Void

    static func request(_ name: String, _ lines: [String]) -> Sample {
        Sample(name: name, bytes: wireText(lines)) { bytes, times in
            var reader = RequestReader(limits: Limits())
            for _ in 0..<times {
                var position = 0
                guard case .head? = try? reader.read(bytes.span, from: &position),
                    case .complete? = try? reader.read(bytes.span, from: &position)
                else { fatalError("\(name) is refused") }
            }
        }
    }

    static func response(_ name: String, _ lines: [String]) -> Sample {
        Sample(name: name, bytes: wireText(lines)) { bytes, times in
            var reader = ResponseReader(limits: Limits())
            for _ in 0..<times {
                var position = 0
                guard case .head? = try? reader.read(bytes.span, from: &position),
                    case .complete? = try? reader.read(bytes.span, from: &position)
                else { fatalError("\(name) is refused") }
            }
        }
    }

    private static func wireText(_ lines: [String]) -> [UInt8] {
        Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }
}

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
func nanoseconds(_ sample: Sample) -> Double {
    let times = 20_000
    let rounds = (0..<200).map { _ in
        ContinuousClock().measure { sample.parse(sample.bytes, times) }
    }
    return (rounds.min() ?? .zero) / .nanoseconds(times)
}

let arguments = CommandLine.arguments.dropFirst().map(\.self)
if arguments.count == 2, let count = Int(arguments[1]),
    let sample = samples.first(where: { $0.name == arguments[0] })
{
    sample.parse(sample.bytes, count)
} else {
    print("| head | bytes | ns |")
    print("|---|---|---|")
    for sample in samples {
        let time = (nanoseconds(sample) * 10).rounded() / 10
        print("| \(sample.name) | \(sample.bytes.count) | \(time) |")
    }
}
