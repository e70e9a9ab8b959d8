import Basics
import HTTP
import Promises

/// The service of a listener with `redirect`: 308 to the same host and target with https.
enum RedirectToHTTPS {
    static var service: Service<Request, Response> {
        Service { request, context in
            let redirect = context.peer.facts?.redirect ?? HTTPSRedirect(port: nil)
            return context.local.value(response(to: request.head, redirect, context.id))
        }
    }

    /// A request without a valid host (HTTP/1.0 permits it) cannot be redirected: 400.
    private static func response(
        to head: RequestHead, _ redirect: HTTPSRedirect, _ id: RequestID
    ) -> Response {
        guard let authority = head.authority,
            let location = location(
                of: head.target, at: authority[0..<authority.endOfHost], redirect)
        else { return Problem(.badRequest, instance: id).response() }
        return Response(
            status: .permanentRedirect, fields: ["Location": location], body: .empty)
    }

    /// The target byte for byte; `*` has no path (RFC 9112 3.2.4).
    private static func location(
        of target: Target, at host: Bytes, _ redirect: HTTPSRedirect
    ) -> FieldValue? {
        guard !host.isEmpty else { return nil }
        var text = TextBuffer()
        text.append(literal: "https://")
        text.append(host)
        if let port = redirect.port {
            text.append(UInt8(ascii: ":"))
            text.append(decimal: UInt64(port))
        }
        if target.form != .asterisk { text.append(originFormOf: target) }
        return FieldValue(Bytes(copying: text.span))
    }
}
