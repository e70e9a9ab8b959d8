/// A request that a simulated client sends: its meaning, and its bytes.
package struct ScriptedRequest {
    /// Counts the requests of the run; number 12 has the mark `r12`.
    package let number: Int
    package var method: String
    /// Index of the endpoint; nil for an unknown route.
    package var endpoint: Int?
    package var host = "gateway.test"
    /// The path, if the endpoint is not a drawn one.
    package var target: String?
    /// Value of the path parameter, decoded.
    package var id: String?
    package var query: [(name: String, value: String)] = []
    package var headers: [(name: String, value: String)] = []
    package var body: String?
    /// A body that is sent in pieces, instead of `body`.
    package var upload: StreamedBody?
    /// Proved by the certificate of its connection.
    package var identity: String?
    /// The index of its listener among those behind the first one; nil for the first one.
    package var listener: Int?
    /// Its connection has TLS.
    package var isSecure = false
    package var isChunked = false
    package var expectsContinue = false
    /// What is wrong with the message itself; nil for a valid one.
    package var defect: Defect?
    /// The client pauses after this share of the bytes; nil sends all at once.
    package var stall: (at: Double, milliseconds: Int)?
    /// It is sent without waiting for the response to the previous one.
    package var isPipelined = false
    /// Milliseconds since the previous response, or since the connection was made.
    package var pause = 0
    /// What the client does after it has sent the request.
    package var afterSending = AfterSending.waits

    package init(number: Int, method: String, endpoint: Int? = nil) {
        self.number = number
        self.method = method
        self.endpoint = endpoint
    }

    package enum Defect: CaseIterable {
        case twoLengths, lengthAndChunked, badLength, badField, foldedField, noHost, badVersion
        case longTarget, manyFields, longField, oddMethod, badChunk
    }

    package enum AfterSending: Equatable {
        case waits
        /// Ends its own direction and reads on.
        case halfCloses
        /// Closes the connection after so many milliseconds.
        case closes(after: Int)
        /// Resets the connection after so many milliseconds.
        case resets(after: Int)
        /// Stops reading for so many milliseconds.
        case pausesReading(Int)
    }

    package var mark: String { "r\(number)" }

    /// The gateway rejects the message and cannot find the next one behind it.
    package var endsConnection: Bool {
        defect != nil && (defect != .badChunk || body?.isEmpty == false)
    }

    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The complete message.
    package var bytes: [UInt8] {
        var target = self.target ?? endpoint.map { "/e\($0)" } ?? "/nowhere"
        if let id { target += "/" + id.percentEncoded }
        if !query.isEmpty {
            target +=
                "?"
                + query.map { "\($0.name)=\($0.value.percentEncoded)" }
                .joined(separator: "&")
        }
        if defect == .longTarget { target += (query.isEmpty ? "?" : "&") + "x=" + Self.long(9000) }
        var lines = ["\(method) \(target) HTTP/1.\(defect == .badVersion ? "x" : "1")"]
        if defect != .noHost { lines.append("Host: \(host)") }
        lines.append("X-Request-Id: \(mark)")
        if self.target == nil { lines.append("X-Secret: \(mark)") }
        lines += headers.map { "\($0.name): \($0.value)" }
        lines += defectLines
        if expectsContinue { lines.append("Expect: 100-continue") }
        guard let body = upload.map({ String(repeating: "x", count: $0.byteCount) }) ?? body else {
            return Array((lines + ["", ""]).joined(separator: "\r\n").utf8)
        }
        let framed: String
        if isChunked || defect == .badChunk {
            lines.append("Transfer-Encoding: chunked")
            let size = defect == .badChunk ? "-1" : String(body.utf8.count, radix: 16)
            framed = body.isEmpty ? "0\r\n\r\n" : "\(size)\r\n\(body)\r\n0\r\n\r\n"
        } else {
            lines.append("Content-Length: \(body.utf8.count)")
            framed = body
        }
        return Array(((lines + ["", ""]).joined(separator: "\r\n") + framed).utf8)
    }

    /// A pause of the client while it sends `bytes`.
    package struct Pause {
        /// Position of the next byte.
        package let at: Int
        package let milliseconds: Int
    }

    /// The pauses, in order.
    ///
    /// - Parameter count: of `bytes`
    func pauses(in count: Int) -> [Pause] {
        if let upload {
            var position = count - upload.byteCount
            return zip(upload.sizes, upload.pauses).map { size, pause in
                position += size
                return Pause(at: position, milliseconds: pause)
            }
        }
        guard let stall, count > 1 else { return [] }
        let cut = max(1, min(count - 1, Int(Double(count) * stall.at)))
        return [Pause(at: cut, milliseconds: stall.milliseconds)]
    }

    private var defectLines: [String] {
        switch defect {
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
    /// Encoded as a path segment or a query value.
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
