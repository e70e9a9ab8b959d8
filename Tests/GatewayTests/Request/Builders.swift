import Basics
import HTTP
import JSONText
import YAMLReader

@testable import Gateway
@testable import Patterns

/// A source location for values of a configuration.
let somewhere = SourceLocation(file: "test.yaml")

func located<Value: Sendable>(_ value: Value) -> Located<Value> { Located(value, at: somewhere) }

func number(_ text: String) -> Located<Config.Number> {
    located(Config.Number(text: text, value: Double(text) ?? 0, integer: Int(text)))
}

func param(
    _ name: String, _ type: Config.Param.Kind? = nil,
    _ more: (inout Config.Param) -> Void = { _ in }
) -> Config.Param {
    var param = Config.Param(name: located(name), location: somewhere)
    param.type = type.map(located)
    more(&param)
    return param
}

func property(
    _ name: String, _ type: Config.Property.Kind? = nil,
    _ more: (inout Config.Property) -> Void = { _ in }
) -> Config.Property {
    var property = Config.Property(name: located(name), location: somewhere)
    property.type = type.map(located)
    more(&property)
    return property
}

func head(_ target: String, _ fields: Fields = Fields()) throws -> RequestHead {
    guard let target = Target(target) else { throw NoTarget(text: target) }
    return RequestHead(method: .get, target: target, fields: fields)
}

struct NoTarget: Error {
    let text: String
}

/// The errors of a refused request, one line each: `query lang must be one of en, de`.
func refusals(_ work: () throws -> Void) -> [String] {
    do {
        try work()
        return []
    } catch let invalid as InvalidRequest {
        return invalid.errors.map { error in
            [error.location.rawValue, error.name, error.reason.text].filter { !$0.isEmpty }
                .joined(separator: " ")
        }
    } catch {
        return ["\(error)"]
    }
}

extension Params {
    /// The parameters of a request that has matched no pattern yet.
    init(_ plans: [ParamPlan], of head: RequestHead) throws(InvalidRequest) {
        var work = PatternWork()
        var errors: [InvalidRequest.Fault] = []
        self.init(plans, of: head, &work, &errors)
        guard errors.isEmpty else { throw InvalidRequest(errors: errors) }
    }
}

extension BodyPlan {
    /// The body of a request that has matched no pattern yet.
    func check(_ body: Bytes) throws(InvalidRequest) -> JSONSlice {
        var work = PatternWork()
        return try check(body, &work)
    }
}
