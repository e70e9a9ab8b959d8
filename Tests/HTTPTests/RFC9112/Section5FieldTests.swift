import Basics
import HTTP
import Testing

/// RFC 9112 5: a name that is a token, a colon directly behind it, a value without control bytes.
@Suite struct Section5FieldTests {
    @Test(arguments: [
        "X-A : 1", "X-A\t: 1", "NoColonHere", ":", ": 1", "X-Invalid[]: 1", "Fo\u{1}o: 1",
        "Fo\0o: 1",
        "Fo\u{ef}o: 1", "X A: 1", "X-A: a\0b", "X-A: a\u{7}b", "X-A: a\u{7f}b", "X-A: \u{b}1",
        "X-A: 1\r\n two: 2", "X-A: 1\r\n\ttwo", "Content-Length\u{85}: 5", "\"X\": 1",
        "X-A:1\r\n :2",
    ])
    func rejectsMalformedLines(_ line: String) {
        #expect(requests(in: get("/", line + "\r\n")) == "refused 400")
    }

    @Test(arguments: [
        ("X-A: v", "v"), ("X-A:v", "v"), ("X-A:\t \tv\t ", "v"), ("X-A:", ""), ("X-A:   ", ""),
        ("X-A: a b\tc", "a b\tc"), ("x-a: caf\u{e9} \u{ff}", "caf\u{e9} \u{ff}"),
        (
            "X-A: a value of more than sixteen bytes\there",
            "a value of more than sixteen bytes\there"
        ),
    ])
    func trimsTheValue(_ line: String, _ value: String) throws {
        let head = try #require(firstHead(in: get("/", line + "\r\n")))
        #expect(head.fields["X-A"]?.bytes == Bytes(latin1(value)))
    }

    /// Names too short for a comparison in words, which begin like names that the parser knows.
    @Test(arguments: ["Via", "VIA", "Vib", "Tel", "Cat", "Eye", "Hit", "Te_", "T", "Vi"])
    func readsShortNames(_ name: String) throws {
        let head = try #require(firstHead(in: get("/", "\(name): 1.1 x\r\n")))
        let fieldName = try #require(FieldName(Bytes(name)))
        #expect(head.fields.all(fieldName).map(\.description) == ["1.1 x"])
        #expect(head.hasVia == (name.uppercased() == "VIA"))
    }

    @Test func keepsRepeatedFieldsApartAndInOrder() throws {
        let head = try #require(firstHead(in: get("/", "X-A: 1\r\nX-B: b\r\nX-A: 2\r\nx-a: 3\r\n")))
        #expect(head.fields.all("X-A").map(\.description) == ["1", "2", "3"])
        #expect(head.fields.map { String($0.name) } == ["Host", "X-A", "X-B", "X-A", "x-a"])
    }

    @Test func rejectsEveryControlByteInAValue() {
        for byte in UInt8.min...UInt8.max where (byte < 0x20 && byte != 9) || byte == 0x7F {
            for offset in 0..<20 {
                var value = [UInt8](repeating: UInt8(ascii: "v"), count: 20)
                value[offset] = byte
                let head = latin1("GET / HTTP/1.1\r\nHost: a\r\nX: ") + value + latin1("\r\n\r\n")
                #expect(transcript(ofRequests: [head]).description == "refused 400")
            }
        }
    }

    @Test func rejectsEveryNonTokenByteInNamesAndMethods() {
        let token = Set(
            "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
        for byte in UInt8.min...UInt8.max {
            let name = latin1("GET / HTTP/1.1\r\nHost: a\r\nX") + [byte] + latin1("Y: 1\r\n\r\n")
            let isColon = byte == UInt8(ascii: ":")
            let isFine = token.contains(byte) || isColon
            #expect((transcript(ofRequests: [name]).description == "GET /") == isFine)
            let method = latin1("G") + [byte] + latin1("T / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(
                (transcript(ofRequests: [method]).lines[0].hasSuffix("T /")) == token.contains(byte)
            )
        }
    }
}

/// The head of the first request in a text.
func firstHead(in text: String) -> RequestHead? {
    var reader = RequestReader(limits: Limits())
    var position = 0
    guard case .head(let head)? = try? reader.read(latin1(text).span, from: &position) else {
        return nil
    }
    return head
}
