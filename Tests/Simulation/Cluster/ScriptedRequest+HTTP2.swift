import Rehearsal

extension ScriptedRequest {
    /// The head over HTTP/2.
    var http2Fields: [PeerField] {
        guard case .message(let head) = PeerMessage.readHead(bytes) else { return [] }
        let words = head.startLine.split(separator: " ", omittingEmptySubsequences: false)
        var fields: [PeerField] = [
            (":method", String(words[0])), (":scheme", "http"),
            (":path", words.count > 1 ? String(words[1]) : "/"),
        ]
        if let host = head["Host"] { fields.append((":authority", host)) }
        for (name, value) in head.fields {
            let lower = defect == .badField ? name : name.lowercased()
            guard !["host", "transfer-encoding"].contains(name.lowercased()) else { continue }
            fields.append((lower, value))
        }
        return fields
    }

    /// The body over HTTP/2; nil if the head ends the request.
    var http2Body: [UInt8]? {
        guard let body else { return nil }
        return body.isEmpty && !isChunked ? nil : Array(body.utf8)
    }
}
