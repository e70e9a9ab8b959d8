package import Basics

/// The body of an error response: `application/problem+json` (RFC 9457), compact, in a fixed order.
package struct Problem {
    /// An additional member, whose value is valid JSON.
    package struct Member {
        let name: StaticString
        let json: Bytes
    }

    private let status: Status
    private let type: StaticString
    private let instance: RequestID
    private var members: [Member] = []

    /// - Parameters:
    ///   - type: its URL; `about:blank` for what the status already says
    ///   - instance: the id of the request, which is also in the log
    package init(
        _ status: Status, type: StaticString = "about:blank", instance: RequestID
    ) {
        self.status = status
        self.type = type
        self.instance = instance
    }

    /// A copy with one more member, whose value must be valid JSON.
    package func with(_ name: StaticString, json: Bytes) -> Problem {
        var problem = self
        problem.members.append(Member(name: name, json: json))
        return problem
    }

    /// The bytes of the body.
    package var body: Bytes {
        var text: [UInt8] = []
        text.reserveCapacity(128 + members.reduce(0) { $0 + $1.json.count + 16 })
        text.append(literal: #"{"type":""#)
        text.append(literal: type)
        text.append(literal: #"","title":""#)
        text.append(literal: status.reason)
        text.append(literal: #"","status":"#)
        text.append(decimal: UInt(status.code))
        text.append(literal: #","instance":""#)
        text.append(instance)
        text.append(UInt8(ascii: "\""))
        for member in members {
            text.append(literal: #",""#)
            text.append(literal: member.name)
            text.append(literal: #"":"#)
            text.append(member.json)
        }
        text.append(UInt8(ascii: "}"))
        return Bytes(text)
    }

    /// The complete response.
    package func response(_ fields: Fields = Fields()) -> Response {
        var all: Fields = [.contentType: "application/problem+json"]
        all.append(fields)
        return Response(status: status, fields: all, body: body)
    }
}
