import Basics
import Gateway
import HTTP
import Promises

/// One page of the admin server: its path and the function that renders it.
struct AdminPage: Sendable {
    enum Access: Sendable {
        /// GET and HEAD.
        case read
        /// POST.
        case action
        /// PUT.
        case change
    }

    let access: Access
    let path: String
    /// The description in the reference documents.
    let description: String
    let contentType: FieldValue
    /// Makes the other header fields of a response.
    let fields: @Sendable () -> Fields
    /// Whether the page accepts any `Host`: orchestrators and load balancers probe under names of
    /// their own, and the page reveals only one bit.
    let acceptsAnyHost: Bool
    /// Whether requests must present `admin.token`, if one is configured: all but probes, and pages
    /// without data.
    let needsToken: Bool
    let render: @Sendable (AdminPages, Request, Exchange) -> LocalPromise<AdminResponse>

    init(
        _ access: Access, _ path: String, _ description: String,
        contentType: FieldValue = "text/plain; charset=utf-8",
        fields: @autoclosure @escaping @Sendable () -> Fields = [:],
        acceptsAnyHost: Bool = false, needsToken: Bool = true,
        render: @escaping @Sendable (AdminPages, Request, Exchange) -> LocalPromise<AdminResponse>
    ) {
        self.access = access
        self.path = path
        self.description = description
        self.contentType = contentType
        self.fields = fields
        self.acceptsAnyHost = acceptsAnyHost
        self.needsToken = needsToken
        self.render = render
    }

    var methods: [Method] {
        switch access {
        case .read: [.get, .head]
        case .action: [.post]
        case .change: [.put]
        }
    }

    func accepts(_ method: Method) -> Bool { methods.contains(method) }

    /// The header fields of a response.
    fileprivate var allFields: Fields {
        var all = fields()
        all.append(.contentType, contentType)
        return all
    }
}

/// The response of a page.
enum AdminResponse {
    /// A body of the page's content type.
    case body(Status, Bytes)
    /// 200 with one of several content types, chosen by `Accept`.
    case negotiated(FieldValue, Bytes)
    /// A problem document.
    case refused(Status, Fields)

    /// A body of text.
    static func text(_ status: Status, _ text: String) -> AdminResponse {
        .body(status, Bytes(text))
    }

    /// A body of compact JSON.
    static func json(_ json: JSONTree) -> AdminResponse {
        .body(.ok, Bytes(json.compact))
    }

    /// A request that the page cannot read: one line says why.
    static func invalid(_ reason: String) -> AdminResponse {
        .text(.badRequest, reason + "\n")
    }

    func response(of page: AdminPage, _ exchange: Exchange) -> Response {
        switch self {
        case .body(let status, let body):
            Response(status: status, fields: page.allFields, body: body)
        case .negotiated(let type, let body):
            Response(
                status: .ok, fields: [.contentType: type, "Vary": "Accept"], body: body)
        case .refused(let status, let fields):
            Problem(status, instance: exchange.id).response(fields)
        }
    }
}
