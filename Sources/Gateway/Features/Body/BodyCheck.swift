import YAMLReader

/// The rules for `body` of an endpoint.
extension ConfigCheck {
    mutating func checkBody(of endpoint: Config.Endpoint) {
        guard let body = endpoint.body else { return }
        refuse(
            "body", at: body.location, withProxyOf: endpoint,
            "the body is passed on without being read")
        checkUnknownFields(of: endpoint)
        if let method = endpoint.route?.value.method, method == .get || method == .head {
            problems.error(at: body.location, "a \(method.rawValue) request has no body")
        }
        if let max = body.max, max.value > config.bodyMax(of: endpoint).value,
            isRead("max_body", of: endpoint.location),
            isRead("max_body", of: config.defaults?.location)
        {
            problems.warning(
                at: max.location,
                "'max' of the body is larger than 'max_body', which is checked first")
        }
        checkObject(
            type: body.type, required: body.required, properties: body.properties, at: body.location
        )
    }

    /// Recursion is bounded by the depth of documents.
    private mutating func checkObject(
        type: Located<Config.Property.Kind>?, required: [Located<String>],
        properties: [Config.Property], at location: SourceLocation
    ) {
        if let type, type.value != .object, !(required.isEmpty && properties.isEmpty) {
            problems.error(
                at: type.location,
                "'required' and 'properties' need 'type: object', not '\(type.quoted { $0.rawValue })'"
            )
        }
        for property in properties {
            checkBounds(
                property, kind: property.type?.value.rawValue,
                of: "property '\(property.name.value)'")
            checkObject(
                type: property.type, required: property.required, properties: property.properties,
                at: property.location)
        }
    }

    private mutating func checkUnknownFields(of endpoint: Config.Endpoint) {
        guard let body = endpoint.body, let rule = body.unknownFields, rule.value == .refuse,
            body.properties.isEmpty, body.required.isEmpty, wasRead
        else { return }
        problems.warning(
            at: rule.location,
            "'unknown_fields: refuse' has no effect without 'properties' or 'required'")
    }
}
