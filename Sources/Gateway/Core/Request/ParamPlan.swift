package import Basics
package import HTTP
import Patterns

/// One parameter: where it comes from, what it must be, and its default.
///
/// A class, so that a use of it retains one reference and not ten.
package final class ParamPlan {
    package let name: String
    package let source: Source
    package let rule: ValueRule
    /// `default:`
    package let defaultValue: Bytes?
    let isRequired: Bool

    package enum Source {
        /// The segment of the path with this index, without so many decoded bytes at its end.
        case path(segment: Int, suffixCount: Int)
        case query(name: Bytes)
        case header(FieldName)
    }

    /// Why a parameter cannot be compiled. The check of the configuration refuses these before,
    /// with a location.
    enum CompileError: Error, Equatable {
        case pattern(PatternError)
        case notInRoute
        case headerName
    }

    init(_ param: Config.Param, route: Config.Route) throws(CompileError) {
        name = param.name.value
        source = try Source(param, route)
        do {
            rule = try ValueRule(param.ruleKind, param)
        } catch {
            throw .pattern(error)
        }
        defaultValue = param.fallback.map { Bytes($0.value) }
        isRequired = param.required?.value ?? false
    }

    /// A path parameter that is not declared is a string.
    private init(undeclared name: String, segment: Int, suffixCount: Int) {
        self.name = name
        source = .path(segment: segment, suffixCount: suffixCount)
        rule = ValueRule(.string)
        defaultValue = nil
        isRequired = true
    }

    /// The parameters of an endpoint: first undeclared ones of the route, then `params:` in file
    /// order.
    static func all(of params: [Config.Param], route: Config.Route) throws(CompileError)
        -> [ParamPlan]
    {
        var plans: [ParamPlan] = []
        for (index, segment) in route.segments.enumerated() {
            guard case .parameter(let name) = segment else { continue }
            if params.contains(where: { $0.name.value == name && $0.isInPath(of: route) }) {
                continue
            }
            plans.append(
                ParamPlan(
                    undeclared: name, segment: index,
                    suffixCount: route.suffixCount(ofSegment: index)))
        }
        for param in params { plans.append(try ParamPlan(param, route: route)) }
        return plans
    }

    /// Nil for a parameter of the path or a header.
    var queryName: Bytes? { if case .query(let name) = source { name } else { nil } }

    var location: InvalidRequest.Location {
        switch source {
        case .path: .path
        case .query: .query
        case .header: .header
        }
    }

    /// Whether an accepted value is valid JSON as it is; a string or UUID needs quotes.
    var isJSON: Bool {
        switch rule.kind {
        case .integer, .wholeNumber, .number, .boolean: true
        case .string, .uuid: false
        }
    }
}

extension ParamPlan.Source {
    fileprivate init(
        _ param: Config.Param, _ route: Config.Route
    ) throws(ParamPlan.CompileError) {
        let name = param.name.value
        if param.isInPath(of: route) {
            guard let segment = route.segments.firstIndex(of: .parameter(name)) else {
                throw .notInRoute
            }
            self = .path(segment: segment, suffixCount: route.suffixCount(ofSegment: segment))
        } else if param.sentIn?.value == .header {
            guard let field = FieldName(name) else { throw .headerName }
            self = .header(field)
        } else {
            self = .query(name: Bytes(name))
        }
    }
}

extension Config.Route {
    /// How many bytes follow a parameter in its segment.
    func suffixCount(ofSegment index: Int) -> Int { suffix(ofSegment: index)?.utf8.count ?? 0 }
}

extension Bytes {
    /// A percent-encoded text without so many decoded bytes at its end.
    func removing(suffix count: Int) -> Bytes {
        var end = self.count
        for _ in 0..<count {
            let isEscape = end > 2 && self[end - 3] == UInt8(ascii: "%")
            end = Swift.max(0, end - (isEscape ? 3 : 1))
        }
        return self[0..<end]
    }
}

extension Config.Param {
    fileprivate func isInPath(of route: Config.Route) -> Bool {
        sentIn.map { $0.value == .path } ?? route.parameters.contains(name.value)
    }
}

extension ParamPlan.CompileError: CustomStringConvertible {
    var description: String {
        switch self {
        case .pattern(let error): "in a pattern, at character \(error.offset + 1): \(error)"
        case .notInRoute: "a path parameter is not in the route"
        case .headerName: "the name of a header parameter is not a valid header name"
        }
    }
}
