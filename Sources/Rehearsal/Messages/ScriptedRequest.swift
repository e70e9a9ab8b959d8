/// A request as a client of the simulation means it, and as it goes out.
package struct ScriptedRequest {
    /// Counted over the whole run; its mark is `r12`.
    package let number: Int
    package var method: String
    /// The endpoint that it is meant for; nil for an unknown route.
    package var endpoint: Int?
    /// Its path as it goes out, where it is not a drawn endpoint's.
    package var target: String?
    /// Behind the endpoint's path; decoded.
    package var id: String?
    package var query: [(name: String, value: String)] = []
    package var headers: [(name: String, value: String)] = []
    package var body: String?
    package var isChunked = false
    package var expectsContinue = false
    /// A way in which the message itself is wrong.
    package var flaw: Flaw?
    /// After how many bytes the client falls silent for a time; nil goes on at once.
    package var stall: (at: Double, milliseconds: Int)?
    /// It goes out together with the one before.
    package var isPipelined = false
    /// Since the answer before; or since the connection's beginning.
    package var pause = 0
    /// What the client does when it has sent it.
    package var then = Then.waits

    package init(number: Int, method: String, endpoint: Int? = nil) {
        self.number = number
        self.method = method
        self.endpoint = endpoint
    }

    package enum Flaw: CaseIterable {
        case twoLengths, lengthAndChunked, badLength, badField, foldedField, noHost, badVersion
        case longTarget, manyFields, longField, oddMethod, badChunk
    }

    package enum Then: Equatable {
        case waits
        /// Ends its side and still reads.
        case halfCloses
        /// Is gone after so many milliseconds.
        case closes(after: Int)
        case resets(after: Int)
        /// Stops reading for so long.
        case pausesReading(Int)
    }

    package var mark: String { "r\(number)" }

    /// The gateway cannot find the end of this message, so that nothing behind it is a request.
    package var isMalformed: Bool { flaw != nil && (flaw != .badChunk || body?.isEmpty == false) }

    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// All of it.
    package var bytes: [UInt8] {
        var target = self.target ?? endpoint.map { "/e\($0)" } ?? "/nowhere"
        if let id { target += "/" + id.percentEncoded }
        if !query.isEmpty {
            target +=
                "?"
                + query.map { "\($0.name)=\($0.value.percentEncoded)" }
                .joined(separator: "&")
        }
        if flaw == .longTarget { target += (query.isEmpty ? "?" : "&") + "x=" + Self.long(9000) }
        var lines = ["\(method) \(target) HTTP/1.\(flaw == .badVersion ? "x" : "1")"]
        if flaw != .noHost { lines.append("Host: gateway.test") }
        lines.append("X-Request-Id: \(mark)")
        if self.target == nil { lines.append("X-Secret: \(mark)") }
        lines += headers.map { "\($0.name): \($0.value)" }
        lines += flawLines
        if expectsContinue { lines.append("Expect: 100-continue") }
        guard let body else { return Array((lines + ["", ""]).joined(separator: "\r\n").utf8) }
        let framed: String
        if isChunked || flaw == .badChunk {
            lines.append("Transfer-Encoding: chunked")
            let size = flaw == .badChunk ? "-1" : String(body.utf8.count, radix: 16)
            framed = body.isEmpty ? "0\r\n\r\n" : "\(size)\r\n\(body)\r\n0\r\n\r\n"
        } else {
            lines.append("Content-Length: \(body.utf8.count)")
            framed = body
        }
        return Array(((lines + ["", ""]).joined(separator: "\r\n") + framed).utf8)
    }

    private var flawLines: [String] {
        switch flaw {
        case .twoLengths: ["Content-Length: 1", "Content-Length: 2"]
        case .lengthAndChunked: ["Content-Length: 1", "Transfer-Encoding: chunked"]
        case .badLength: ["Content-Length: +1"]
        case .badField: ["Bad Name: 1"]
        case .foldedField: ["X-Fold: 1", " 2"]
        case .manyFields: (0..<120).map { "X-\($0): 1" }
        case .longField: ["X-Long: " + Self.long(33 * 1024)]
        case .noHost, .badVersion, .longTarget, .oddMethod, .badChunk, nil: []
        }
    }

    private static func long(_ count: Int) -> String { String(repeating: "x", count: count) }
}

extension String {
    /// As a segment of a path or a value of a query.
    package var percentEncoded: String {
        var text = ""
        for byte in utf8 {
            let character = Character(UnicodeScalar(byte))
            if byte < 0x80, character.isLetter || character.isNumber || "-._~".contains(character) {
                text.append(character)
            } else {
                let hex = String(byte, radix: 16, uppercase: true)
                text += "%" + (hex.count == 1 ? "0" : "") + hex
            }
        }
        return text
    }

    package var percentDecoded: String {
        var bytes: [UInt8] = []
        var rest = Array(utf8)[...]
        while let byte = rest.first {
            if byte == UInt8(ascii: "%"), rest.count >= 3,
                let value = UInt8(
                    String(
                        decoding: rest[(rest.startIndex + 1)..<(rest.startIndex + 3)], as: UTF8.self
                    ),
                    radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
                rest = rest.dropFirst()
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
