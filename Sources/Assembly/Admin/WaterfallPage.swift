import Basics
import HTTP
import Promises

/// The page for people at the root of the admin address: one document without external resources, whose
/// script reads `/-/overview` and `/-/requests/recent`.
extension AdminPages {
    /// The browser runs only the script and the style of this document, connects only to its origin, and
    /// shows it in no frame.
    static var pageFields: Fields {
        var fields = uncached
        fields.append(FieldName("Content-Security-Policy"), PageDocument.contentSecurityPolicy)
        fields.append(FieldName("Referrer-Policy"), "no-referrer")
        return fields
    }

    static func page(
        _ pages: AdminPages, _: Request, _ exchange: Exchange
    ) -> LocalPromise<AdminResponse> {
        exchange.local.value(.body(.ok, PageDocument.html))
    }
}
