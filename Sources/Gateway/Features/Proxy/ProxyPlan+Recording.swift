import HTTP

extension ProxyPlan {
    /// The names of its one call in the records of requests.
    func recorded(at backend: Backend, of endpoint: EndpointPlan) -> RecordedEndpoint.Call {
        RecordedEndpoint.Call(
            name: Self.callName, backend: backend.plan.name, method: Method(endpoint.route.method),
            path: path.text ?? endpoint.route.path, hosts: backend.hosts.fields,
            servers: backend.plan.hosts.map(\.server))
    }
}
