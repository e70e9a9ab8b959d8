import Basics

/// The OpenAPI 3.1 description of a configuration: the endpoints with their parameters, bodies and
/// responses. It contains nothing about backends.
///
/// A class, as are its operations, for the same reason as `Planner`.
package final class OpenAPIDocument {
    private let config: Config
    private let plan: Plan

    /// The title of the API.
    private let title: String

    private let servers: OpenAPIServers

    /// The endpoints that are described.
    private let endpoints: [EndpointPlan]

    /// - Parameters:
    ///   - plan: the plan of `config`
    ///   - server: the URL for clients; nil for the address in `listen`
    ///   - host: describes the endpoints for this host only; nil for all hosts
    package init(
        _ config: Config, _ plan: Plan, title: String, server: String? = nil, host: String? = nil
    ) {
        self.config = config
        self.plan = plan
        self.title = title
        servers = OpenAPIServers(plan, server: server, host: host)
        endpoints = servers.describedEndpoints
    }

    /// The description, indented, with a line end.
    package var text: String {
        JSONTree.object([
            ("openapi", .text("3.1.0")),
            ("info", .object([("title", .text(title)), ("version", .text("1"))])),
            ("servers", .list([servers.all])),
            ("paths", .object(paths)),
            ("components", OpenAPIComponents.tree(securitySchemes: securitySchemes)),
        ]).text + "\n"
    }

    private var paths: [(String, JSONTree)] {
        var names = OperationNames()
        return OpenAPIPath.all(of: endpoints).map { path in
            let members = path.endpoints.flatMap { index, spelled in
                operations(
                    operation(of: plan.endpoints[index], spelled: spelled),
                    isHeadFree: path.isHeadFree(plan.endpoints),
                    besides: path.methods(plan.endpoints), &names)
            }
            return (path.text, JSONTree.object(members))
        }
    }

    private var securitySchemes: JSONTree? {
        OpenAPISecurity.schemes(
            of: endpoints.map { operation(of: $0, spelled: [:]).security })
    }

    private func operation(
        of endpoint: EndpointPlan, spelled: [String: String]
    ) -> OpenAPIOperation {
        OpenAPIOperation(
            config.endpoints[endpoint.index], endpoint, plan, spelled: spelled,
            servers: servers.servers(of: endpoint))
    }

    /// HEAD is supported on every route of GET.
    private func operations(
        _ operation: OpenAPIOperation, isHeadFree: Bool, besides others: [Config.Method],
        _ names: inout OperationNames
    ) -> [(String, JSONTree)] {
        let method = operation.method
        let isWithHead = method == .get && isHeadFree
        let methods: [Config.Method] =
            switch method {
            case .any: Config.Method.allCases.filter { $0 != .any && !others.contains($0) }
            case .get where isWithHead: [.get, .head]
            default: [method]
            }
        return methods.map { method in
            let name = names.name(method, operation.path)
            return (method.rawValue.lowercased(), operation.tree(as: method, named: name))
        }
    }
}

/// Creates a unique name for every operation from its method and path: `getProductsId`.
private struct OperationNames {
    private var taken: Set<String> = []

    mutating func name(_ method: Config.Method, _ path: String) -> String {
        let words = path.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
        let name =
            method.rawValue.lowercased()
            + words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        var unique = name
        var count = 1
        while !taken.insert(unique).inserted {
            count += 1
            unique = "\(name)_\(count)"
        }
        return unique
    }
}
