import Foundation

/// Splits received bytes into responses, as simply as tests need it: a head, and as many bytes of a
/// body as `Content-Length` states.
package struct ResponseParser {
    /// The bytes behind the last complete response.
    package private(set) var rest: [UInt8]

    package init(_ bytes: [UInt8] = []) { rest = bytes }

    package mutating func append(_ bytes: [UInt8]) { rest += bytes }

    /// The next response, interim ones included; nil until it is complete.
    ///
    /// - Parameters:
    ///   - toHead: whether it responds to HEAD, so that it has no body
    ///   - takesCutBody: whether an incomplete body counts, too
    ///   - ms: when its last byte arrived
    package mutating func next(
        toHead: Bool = false, takesCutBody: Bool = false, ms: Double = 0
    ) -> ReceivedResponse? {
        guard let end = rest.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
            .components(separatedBy: "\r\n")
        let status = head[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        let bare = ReceivedResponse(
            status: status, lines: Array(head.dropFirst()), body: "", ms: ms)
        let hasNoBody = toHead || status < 200 || status == 204
        var length = hasNoBody ? 0 : Int(bare["Content-Length"] ?? "") ?? 0
        let count = rest.count - end.upperBound
        if takesCutBody { length = min(length, count) }
        guard count >= length else { return nil }
        let body = rest[end.upperBound..<end.upperBound + length]
        rest.removeFirst(end.upperBound + length)
        return ReceivedResponse(
            status: status, lines: bare.lines, body: String(decoding: body, as: UTF8.self), ms: ms)
    }
}
