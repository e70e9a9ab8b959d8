import Basics
import Gateway
import HTTP

/// An access log line in the combined format of web servers, for tools that read no other format:
/// `client - caller [time] "request line" status bytes "referer" "user agent"`.
struct CombinedLine {
    let client: Bytes?
    let caller: Bytes?
    let request: RequestHead
    let query: Config.Log.Query
    let status: UInt16
    let bodyBytes: Int

    func append(to text: inout [UInt8], at unixTime: Int64) {
        if let client { text.append(client) } else { text.append(UInt8(ascii: "-")) }
        text.append(literal: " - ")
        if let caller { text.append(word: caller) } else { text.append(UInt8(ascii: "-")) }
        text.append(literal: " [")
        text.append(combinedTime: unixTime)
        text.append(literal: "] \"")
        text.append(escaped: Bytes(request.method.description))
        text.append(UInt8(ascii: " "))
        text.append(escaped: request.target.path)
        if let query = request.target.query(query) {
            text.append(UInt8(ascii: "?"))
            text.append(escaped: query)
        }
        text.append(literal: " HTTP/")
        // As in the logs of other servers, whose readers expect two digits.
        text.append(literal: request.version == .http2 ? "2.0" : request.version.text)
        text.append(literal: "\" ")
        // Three digits, as the readers of this format expect.
        text.append(digits: 3, of: Int64(status))
        text.append(UInt8(ascii: " "))
        if bodyBytes > 0 {
            text.append(decimal: UInt64(bodyBytes))
        } else {
            text.append(UInt8(ascii: "-"))
        }
        text.append(quoted: request.fields["Referer"])
        text.append(quoted: request.fields["User-Agent"])
    }
}

extension Target {
    /// The query as the access log may show it; nil where there is none to show.
    func query(_ shown: Config.Log.Query) -> Bytes? {
        guard shown != .none, let query, !query.isEmpty else { return nil }
        return shown == .values ? query : Bytes(names(in: query))
    }

    private func names(in query: Bytes) -> [UInt8] {
        var names: [UInt8] = []
        let text = query.span
        var isName = true
        for index in text.indices {
            switch text[index] {
            case UInt8(ascii: "&"):
                isName = true
                names.append(UInt8(ascii: "&"))
            case UInt8(ascii: "="): isName = false
            case let byte where isName: names.append(byte)
            default: break
            }
        }
        return names
    }
}

private let months: [StaticString] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
]

extension [UInt8] {
    /// `10/Oct/2000:13:55:36 +0000`
    fileprivate mutating func append(combinedTime unixTime: Int64) {
        let (seconds, _) = unixTime.flooredQuotient(by: 1_000_000_000)
        let (day, time) = seconds.flooredQuotient(by: 86_400)
        let date = CivilDate(daysSince1970: day)
        append(digits: 2, of: date.day)
        append(UInt8(ascii: "/"))
        append(literal: months[Int(date.month) - 1])
        append(UInt8(ascii: "/"))
        append(digits: 4, of: date.year)
        for part in [time / 3_600, time / 60 % 60, time % 60] {
            append(UInt8(ascii: ":"))
            append(digits: 2, of: part)
        }
        append(literal: " +0000")
    }

    /// ` "value"`, or ` "-"` where there is none.
    fileprivate mutating func append(quoted value: FieldValue?) {
        append(literal: " \"")
        if let value { append(escaped: value.bytes) } else { append(UInt8(ascii: "-")) }
        append(UInt8(ascii: "\""))
    }

    /// With everything as `\xHH` that could end a field or a line, as web servers write it.
    fileprivate mutating func append(escaped value: Bytes) {
        let bytes = value.span
        for index in bytes.indices { append(escaped: bytes[index]) }
    }

    /// A value outside of quotes, which a space would end.
    fileprivate mutating func append(word value: Bytes) {
        let bytes = value.span
        for index in bytes.indices {
            if bytes[index] == UInt8(ascii: " ") {
                append(literal: "\\x20")
            } else {
                append(escaped: bytes[index])
            }
        }
    }

    private mutating func append(escaped byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0..<0x20, 0x7F...:
            append(literal: "\\x")
            append(hexDigit: byte >> 4)
            append(hexDigit: byte & 15)
        default: append(byte)
        }
    }

    private mutating func append(hexDigit nibble: UInt8) {
        append(nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") + nibble - 10)
    }
}
