/// A status code of a response, 100 to 599 (RFC 9110 15).
package struct Status: Sendable, Hashable {
    /// The three digits as a number.
    package let code: UInt16

    /// Nil outside of 100 to 599, which are not HTTP statuses.
    package init?(_ code: Int) {
        guard (100...599).contains(code) else { return nil }
        self.code = UInt16(code)
    }

    private init(known code: UInt16) {
        self.code = code
    }

    package static var `continue`: Status { Status(known: 100) }
    package static var ok: Status { Status(known: 200) }
    package static var noContent: Status { Status(known: 204) }
    package static var notModified: Status { Status(known: 304) }
    package static var permanentRedirect: Status { Status(known: 308) }
    package static var badRequest: Status { Status(known: 400) }
    package static var unauthorized: Status { Status(known: 401) }
    package static var forbidden: Status { Status(known: 403) }
    package static var notFound: Status { Status(known: 404) }
    package static var methodNotAllowed: Status { Status(known: 405) }
    package static var requestTimeout: Status { Status(known: 408) }
    package static var conflict: Status { Status(known: 409) }
    package static var contentTooLarge: Status { Status(known: 413) }
    package static var uriTooLong: Status { Status(known: 414) }
    package static var unsupportedMediaType: Status { Status(known: 415) }
    package static var expectationFailed: Status { Status(known: 417) }
    package static var misdirectedRequest: Status { Status(known: 421) }
    package static var unprocessableContent: Status { Status(known: 422) }
    package static var tooManyRequests: Status { Status(known: 429) }
    package static var headerFieldsTooLarge: Status { Status(known: 431) }
    package static var internalServerError: Status { Status(known: 500) }
    package static var notImplemented: Status { Status(known: 501) }
    package static var badGateway: Status { Status(known: 502) }
    package static var serviceUnavailable: Status { Status(known: 503) }
    package static var gatewayTimeout: Status { Status(known: 504) }
    package static var versionNotSupported: Status { Status(known: 505) }
    /// RFC 5842 7.2.
    package static var loopDetected: Status { Status(known: 508) }

    /// Precedes the final response (RFC 9110 15.2).
    package var isInterim: Bool { code < 200 }

    /// RFC 9110 6.4.1: such a response never has a body, whatever its fields state.
    package var forbidsBody: Bool { code < 200 || code == 204 || code == 304 }
}

extension Status {
    /// The reason phrase of RFC 9110 15, also the `title` of a problem; empty for codes without one.
    package var reason: StaticString {
        switch code {
        case 100..<400: reasonOfSuccess
        case 400..<500: reasonOfClientError
        default: reasonOfServerError
        }
    }

    private var reasonOfSuccess: StaticString {
        switch code {
        case 100: "Continue"
        case 101: "Switching Protocols"
        case 103: "Early Hints"
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 203: "Non-Authoritative Information"
        case 204: "No Content"
        case 205: "Reset Content"
        case 206: "Partial Content"
        case 207: "Multi-Status"
        case 300: "Multiple Choices"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        default: ""
        }
    }

    private var reasonOfClientError: StaticString {
        switch code {
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 402: "Payment Required"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 407: "Proxy Authentication Required"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 411: "Length Required"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 416: "Range Not Satisfiable"
        case 417: "Expectation Failed"
        case 421: "Misdirected Request"
        case 422: "Unprocessable Content"
        case 423: "Locked"
        case 424: "Failed Dependency"
        case 425: "Too Early"
        case 426: "Upgrade Required"
        case 428: "Precondition Required"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 451: "Unavailable For Legal Reasons"
        default: ""
        }
    }

    private var reasonOfServerError: StaticString {
        switch code {
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        case 507: "Insufficient Storage"
        case 508: "Loop Detected"
        case 511: "Network Authentication Required"
        default: ""
        }
    }
}

extension Status: CustomStringConvertible {
    package var description: String { "\(code)" }
}
