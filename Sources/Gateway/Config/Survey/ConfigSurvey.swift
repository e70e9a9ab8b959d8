/// The facts that a simulation of clients and backends needs: the routes with valid values of their
/// parameters, and the calls with the members that are read from their responses.
package struct ConfigSurvey: Sendable {
    package let backends: [Backend]
    package let endpoints: [Endpoint]

    package struct Backend: Sendable {
        package let name: String
        package let hosts: [Host]
    }

    package struct Host: Sendable, Equatable {
        /// A name, or an address without brackets.
        package let host: String
        package let port: UInt16
    }

    package struct Endpoint: Sendable {
        /// `GET /products/{id}`, the name in logs and metrics.
        package let name: String
        /// A host of its requests, as `Host` has it; nil for any.
        package let host: String?
        /// The index of a listener that serves it.
        package let listener: Int
        package let method: String
        package let path: [Segment]
        /// The parameters in query and headers.
        package let params: [Param]
        /// Headers that calls use.
        package let headers: [String]
        /// A valid body; nil if the endpoint uses none.
        package let body: String?
        /// The first of `content_types`; nil if a body may have any type.
        package let contentType: String?
        /// The parameters and properties without a sample, because no candidate obeys their rules:
        /// `parameter 'id'`. Requests that contain one are invalid.
        package let withoutSample: [String]
        package let calls: [Call]
        /// Whether it passes its requests through to the only one of `calls`.
        package let isProxy: Bool
        /// The method of a request with a body; nil without `proxy`, and if the route takes none.
        package let uploadMethod: String?
    }

    package enum Segment: Sendable {
        /// Decoded.
        case literal(String)
        case param(values: [String])
    }

    package struct Param: Sendable {
        package let name: String
        package let isHeader: Bool
        package let isRequired: Bool
        /// Some valid values.
        package let values: [String]
    }

    package struct Call: Sendable {
        package let name: String
        /// Index into `backends`.
        package let backend: Int
        /// Nil for the method of the client's request.
        package let method: String?
        /// The fixed pieces of its path and query, in order.
        package let literals: [String]
        /// The paths that `take`, `keep` and templates of other calls read from its response:
        /// `items[].id`.
        package let paths: [String]
    }

    /// The names of the optional parameters, once each.
    package var optionalParameters: [String] {
        var names: [String] = []
        for param in endpoints.flatMap(\.params) where !param.isRequired {
            if !names.contains(param.name) { names.append(param.name) }
        }
        return names
    }

    package init(_ config: Config) {
        backends = config.backends.map { backend in
            Backend(
                name: backend.name.value,
                hosts: backend.hosts.map { Host(host: $0.value.host, port: $0.value.port) })
        }
        endpoints = zip(config.endpoints, config.endpointNames).map {
            Endpoint($0, named: $1, in: config)
        }
    }
}

extension ConfigSurvey.Endpoint {
    fileprivate init(_ endpoint: Config.Endpoint, named name: String, in config: Config) {
        let route = endpoint.route?.value
        let written = route?.method.rawValue ?? "GET"
        self.name = name
        host = config.sampleHost(of: endpoint)
        listener = config.sampleListener(of: endpoint)
        method = route?.method == .any ? "GET" : written
        path = (route?.segments ?? []).enumerated().map { index, segment in
            switch segment {
            case .literal(let text): return .literal(text)
            case .rest: return .param(values: ["a", "b", "c"])
            case .parameter(let name):
                let param = endpoint.params.first { $0.name.value == name }
                let suffix = route?.suffix(ofSegment: index) ?? ""
                return .param(values: (param?.samples ?? ["1", "2", "3"]).map { $0 + suffix })
            }
        }
        let inPath = route?.parameters ?? []
        var params = endpoint.params.filter { !inPath.contains($0.name.value) }.map { param in
            ConfigSurvey.Param(
                name: param.name.value, isHeader: param.sentIn?.value == .header,
                isRequired: param.required?.value ?? false, values: param.samples)
        }
        params += endpoint.undeclaredQuery.map { name, isOptional in
            ConfigSurvey.Param(
                name: name, isHeader: false, isRequired: !isOptional, values: ["1", "2", "abc"])
        }
        let tested = endpoint.matching.when?.requiredParams ?? []
        self.params =
            params.filter { param in
                !tested.contains { $0.name == param.name && $0.isHeader == param.isHeader }
            } + tested
        headers = endpoint.references.compactMap { reference in
            if case .requestHeader(let name) = reference.value.source { name } else { nil }
        }
        let sendsBody = endpoint.calls.contains { $0.content != nil }
        body = endpoint.body?.sample ?? (sendsBody ? #"{"text":"sample"}"# : nil)
        contentType = endpoint.contentTypes.types.first?.value.sample
        withoutSample =
            endpoint.params.filter(\.samples.isEmpty).map { "parameter '\($0.name.value)'" }
            + (endpoint.body?.pathsWithoutSample ?? []).map { "property '\($0)'" }
        isProxy = endpoint.proxy != nil
        uploadMethod =
            switch endpoint.proxy == nil ? nil : route?.method {
            case .any?: Config.Method.post.rawValue
            case .post?, .put?, .patch?: written
            default: nil
            }
        calls =
            endpoint.calls.map { ConfigSurvey.Call($0, of: endpoint, in: config) }
            + [endpoint.proxy].compactMap { $0 }.map {
                ConfigSurvey.Call($0, in: config)
            }
    }
}

extension Config.Endpoint {
    /// The query parameters that calls use as `{request.query.name}`, once each.
    fileprivate var undeclaredQuery: [(name: String, isOptional: Bool)] {
        var names: [(name: String, isOptional: Bool)] = []
        let optional = (conditionReferences + respondReferences).map(\.location)
        for reference in references {
            guard case .requestQuery(let name) = reference.value.source,
                !params.contains(where: { $0.name.value == name }),
                !names.contains(where: { $0.name == name })
            else { continue }
            names.append(
                (name, reference.value.isOptional || optional.contains(reference.location)))
        }
        return names
    }
}

extension Config {
    /// A host of an endpoint, as `Host` has it, that no other endpoint has as an exact name; nil for any.
    fileprivate func sampleHost(of endpoint: Endpoint) -> String? {
        guard let host = endpoint.matching.hosts.first?.value else { return nil }
        guard host.hasPrefix("*.") else { return HostSyntax.canonical(host) }
        let others = Set(endpoints.flatMap(\.matching.hosts).map { HostSyntax.canonical($0.value) })
        return (["www"] + (1...others.count).map { "w\($0)" })
            .map { HostSyntax.canonical($0 + host.dropFirst()) }.first { !others.contains($0) }
    }

    /// The index of a listener that serves an endpoint and no other one of its route.
    fileprivate func sampleListener(of endpoint: Endpoint) -> Int {
        if let name = endpoint.matching.listener?.value {
            return listen.firstIndex { $0.name?.value == name } ?? 0
        }
        let shape = endpoint.route?.value.shape
        let taken = endpoints.filter { $0.route?.value.shape == shape }
            .compactMap(\.matching.listener?.value)
        return listen.firstIndex { !taken.contains($0.name?.value ?? "") } ?? 0
    }
}

extension Config.Condition {
    /// Headers and query parameters with which it holds, as far as simple tests say so.
    fileprivate var requiredParams: [ConfigSurvey.Param] {
        let values = ([equal].compactMap(\.self) + oneOf).compactMap(\.value.plainText)
        let own: [ConfigSurvey.Param] = (value?.value.template.references ?? []).compactMap {
            let known = values.isEmpty && exists?.value == true ? ["sample"] : values
            guard !known.isEmpty else { return nil }
            switch $0.source {
            case .requestHeader(let name):
                return ConfigSurvey.Param(
                    name: name, isHeader: true, isRequired: true, values: known)
            case .requestQuery(let name):
                return ConfigSurvey.Param(
                    name: name, isHeader: false, isRequired: true, values: known)
            default: return nil
            }
        }
        return own + all.flatMap(\.value.requiredParams)
            + (any.first?.value.requiredParams ?? [])
    }
}

extension ConfigSurvey.Call {
    /// The one request of an endpoint that passes requests through.
    fileprivate init(_ proxy: Config.Proxy, in config: Config) {
        name = "proxy"
        backend = config.backends.firstIndex { $0.name.value == proxy.to?.value } ?? 0
        method = nil
        literals = []
        paths = []
    }

    fileprivate init(_ call: Config.Call, of endpoint: Config.Endpoint, in config: Config) {
        name = call.name.value
        backend = config.backends.firstIndex { $0.name.value == call.from?.value } ?? 0
        method = call.request?.method.value.rawValue ?? "GET"
        literals = (call.request?.target.template.segments ?? []).compactMap { segment in
            if case .literal(let text) = segment { text } else { nil }
        }
        let taken = call.take.map(\.value)
        let kept = (call.keep?.value ?? []).map { path in
            taken.map { $0 + (path.value.hasPrefix("[") ? "" : ".") + path.value } ?? path.value
        }
        let used = endpoint.references.compactMap { reference -> String? in
            guard case .call(call.name.value, let steps) = reference.value.source else {
                return nil
            }
            let path = steps.spelled
            return taken.map { $0 + (path.hasPrefix("[") ? "" : ".") + path } ?? path
        }
        paths = [taken].compactMap { $0 } + kept + used
    }
}

extension [TemplateText.Step] {
    /// `items[1].id`
    fileprivate var spelled: String {
        var text = ""
        for step in self {
            switch step {
            case .key(let key): text += (text.isEmpty ? "" : ".") + key
            case .index(let index): text += "[\(index)]"
            }
        }
        return text
    }
}
