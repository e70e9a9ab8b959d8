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
        exchange.local.value(.description(pages.process.diagnostics.descriptions.summary()))
    }

    static func explain(
        _ pages: AdminPages, _ request: Request, _ exchange: Exchange
    ) -> LocalPromise<AdminResponse> {
        exchange.local.value(pages.explain(request.head.target))
    }

    private func explain(_ target: Target) -> AdminResponse {
        var method = Method.get
        var url: Target?
        let fault = target.firstFault { name, value in
            switch name {
            case "method":
                guard let known = Method(String(value)) else {
                    return "method must be a request method such as GET or POST"
                }
                method = known
            case "url":
                guard let known = Target(value), known.form != .asterisk else {
                    return "url must be a URL such as /path?query, percent-encoded"
                }
                url = known
            default: return "unknown parameter \(name)"
            }
            return nil
        }
        if let fault { return .invalid(fault) }
        guard let url else { return .invalid("url is missing") }
        return .description(process.diagnostics.descriptions.explanation(method, url))
    }
}

extension AdminResponse {
    /// A description of the plan, or why there is none.
    fileprivate static func description(_ text: Result<String, PlanError>) -> AdminResponse {
        switch text {
        case .success(let text): .text(.ok, text)
        case .failure(let error): .text(.internalServerError, error.line)
        }
    }
}

extension PlanError {
    /// Its line in the place of a description.
    var line: String { "internal error: \(self)\n" }
}
