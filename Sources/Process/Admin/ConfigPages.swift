import Assembly
import Basics
import Gateway
import HTTP
import Promises

/// The pages of the configuration in use.
extension AdminPages {
    static func config(
        _ pages: AdminPages, _: Request, _ exchange: Exchange
    ) -> LocalPromise<AdminResponse> {
        exchange.local.value(.json(.object(members(of: pages.process.diagnostics.config))))
    }

    static func members(of config: RecordedConfig) -> [(String, JSONTree)] {
        [
            ("path", .text(config.path)), ("digest", .text("\(config.digest)")),
            ("config", config.listing ?? .raw("null")),
        ]
    }

    static func plan(
        _ pages: AdminPages, _: Request, _ exchange: Exchange
    ) -> LocalPromise<AdminResponse> {
        let summary = pages.process.diagnostics.descriptions.summary()
        return exchange.local.value(
            summary.map { .text(.ok, $0) } ?? .refused(.internalServerError, [:]))
    }

    static func explain(
        _ pages: AdminPages, _ request: Request, _ exchange: Exchange
    ) -> LocalPromise<AdminResponse> {
        exchange.local.value(pages.explain(request.head.target))
    }

    private func explain(_ target: Target) -> AdminResponse {
        var method = Method.get
        var url: Target?
        for parameter in target.parameters {
            guard let value = parameter.decodedValue else {
                return .invalid("a parameter has a malformed percent-encoding")
            }
            switch String(parameter.name) {
            case "method":
                guard let known = Method(String(value)) else {
                    return .invalid("method must be a request method such as GET or POST")
                }
                method = known
            case "url":
                guard let known = Target(value), known.form != .asterisk else {
                    return .invalid("url must be a URL such as /path?query, percent-encoded")
                }
                url = known
            case let name: return .invalid("unknown parameter \(name)")
            }
        }
        guard let url else { return .invalid("url is missing") }
        let text = process.diagnostics.descriptions.explanation(method, url)
        return text.map { .text(.ok, $0) } ?? .refused(.internalServerError, [:])
    }
}
