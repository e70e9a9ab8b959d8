import JSONText
import YAMLReader

/// The rules for `each` of a call.
extension ConfigCheck {
    mutating func checkEach(of call: Config.Call, in endpoint: Config.Endpoint) {
        guard let each = call.each else { return checkElementPlace(of: call) }
        checkName(each, of: call, in: endpoint)
        checkList(each, of: call, in: endpoint)
        checkPlace(each, of: call)
        checkBatch(each, of: call)
        checkParallel(each, of: call)
        if let name = call.relayHeaders.first {
            problems.error(
                at: name.location,
                "'relay_headers' has no effect on call '\(call.name.value)': it has many responses")
        }
    }

    private mutating func checkParallel(_ each: Config.Call.Each, of call: Config.Call) {
        let parallel = each.parallel?.value ?? PlanDefaults.listParallel
        guard let from = call.from, let backend = backend(named: from.value),
            let most = backend.maxConcurrent, backend.queue == nil, parallel > most.value,
            isRead("queue", of: backend.location)
        else { return }
        problems.warning(
            at: each.parallel?.location ?? each.location,
            "'each' of call '\(call.name.value)' has up to \(parallel) requests in flight ('parallel'), but"
                + " backend '\(from.quoted)' has 'max_concurrent: \(most.value)' and no 'queue': the others"
                + " fail")
    }

    /// `batch` needs `match`, and the reverse; its references have several values.
    private mutating func checkBatch(_ each: Config.Call.Each, of call: Config.Call) {
        let title = "'each' of call '\(call.name.value)'"
        guard isRead("batch", "match", of: each.location) else { return }
        guard let batch = each.batch else {
            if let match = each.match.first {
                problems.error(at: match.path.location, "\(title) has 'match' without 'batch'")
            }
            return
        }
        guard each.match.count == 1, let match = each.match.first else {
            problems.error(
                at: batch.location,
                "\(title) has 'batch', so 'match' must have one entry, such as match: { sku:"
                    + " \"{order.sku}\" }")
            return
        }
        if let reference = match.value.template.references.first, !call.refersToElement(reference) {
            problems.error(
                at: match.value.location,
                "'match' of call '\(call.name.value)' uses {\(reference.text)}, which is not a value of"
                    + " {\(each.name?.value ?? "")}")
        }
        for reference in call.references
        where call.refersToElement(reference.value) && reference.value.separator == nil {
            problems.error(
                at: reference.location,
                "call '\(call.name.value)' uses {\(reference.value.text)}, and a request of a batch has"
                    + " several: write {\(reference.value.name),}")
        }
    }

    /// Only a call with `each` has elements.
    private mutating func checkElementPlace(of call: Config.Call) {
        guard case .elements? = call.at?.value, let at = call.at,
            isRead("each", of: call.location)
        else { return }
        problems.error(
            at: at.location,
            "'at' leads into the elements of a list; call '\(call.name.value)' has no"
                + " 'each'")
    }

    private mutating func checkName(
        _ each: Config.Call.Each, of call: Config.Call, in endpoint: Config.Endpoint
    ) {
        guard let name = each.name else { return }
        let taken =
            endpoint.calls.map(\.name.value) + endpoint.parameterNames + ["request", "token"]
        if taken.contains(name.value) {
            problems.error(
                at: name.location,
                "'as: \(name.quoted)' of call '\(call.name.value)': the name is taken by a call, a"
                    + " parameter, 'request' or 'token'")
        } else if Config.Call.problem(withName: name.value) != nil {
            problems.error(
                at: name.location,
                "'as: \(name.quoted)' of call '\(call.name.value)': a name begins with a letter and"
                    + " consists of letters, digits, _ and -")
        } else if !call.references.contains(where: { call.refersToElement($0.value) }) {
            problems.error(
                at: name.location,
                "call '\(call.name.value)' does not use {\(name.value)}, so that all of its requests"
                    + " would be equal")
        }
    }

    private mutating func checkList(
        _ each: Config.Call.Each, of call: Config.Call, in endpoint: Config.Endpoint
    ) {
        guard let list = each.list else { return }
        let title = "'in' of call '\(call.name.value)'"
        switch list.value.source {
        case .requestHeader, .requestClient, .requestCaller: break
        case .requestBody, .requestQuery:
            checkDeclared(list, title, in: endpoint)
            checkType(of: list, title, in: endpoint)
            guard each.max == nil, isRead("max", of: each.location) else { return }
            problems.error(
                at: each.location,
                "'each' of call '\(call.name.value)' needs 'max': the client decides how long the list"
                    + " is")
        case .name(let name), .call(let name, _):
            if name == each.name?.value || endpoint.parameterNames.contains(name) {
                problems.error(
                    at: list.location,
                    "\(title) must be a value of a call or of the request; {\(name)} is "
                        + (name == each.name?.value ? "its own element" : "a parameter"))
            }
            let source = endpoint.calls.first { $0.name.value == name }
            guard let other = source?.each else { return }
            problems.error(
                at: list.location,
                "'each' of call '\(call.name.value)' uses the result of '\(name)', which has 'each'"
                    + " in \(other.location), too; lists of lists are not supported")
        }
    }

    /// A declared parameter must be given once.
    private mutating func checkDeclared(
        _ list: Located<TemplateText.Reference>, _ title: String, in endpoint: Config.Endpoint
    ) {
        guard case .requestQuery(let name) = list.value.source,
            endpoint.params.contains(where: {
                $0.name.value == name && ($0.sentIn?.value ?? .query) == .query
            })
        else { return }
        problems.error(
            at: list.location,
            "\(title) uses {\(list.value.name)}, which 'params' declares: a declared parameter is given"
                + " once; remove it from 'params'")
    }

    /// A member that `body` declares must be an array.
    private mutating func checkType(
        of list: Located<TemplateText.Reference>, _ title: String, in endpoint: Config.Endpoint
    ) {
        guard case .requestBody(let path) = list.value.source,
            let type = endpoint.body?.typeWithoutArray(at: path)
        else { return }
        problems.error(
            at: list.location,
            "\(title) uses {\(list.value.name)[]}, and 'body' declares a value of type"
                + " \(type.value.rawValue) in \(type.location), so there is never a list")
    }

    private mutating func checkPlace(_ each: Config.Call.Each, of call: Config.Call) {
        guard let at = call.at else { return }
        switch at.value {
        case .root:
            problems.error(
                at: at.location,
                "the result of call '\(call.name.value)' is a list, which cannot be merged into the"
                    + " root")
        case .elements(let path, _):
            guard let list = each.list, call.listCall == nil || list.path != path else { return }
            problems.error(
                at: at.location,
                "'at' of call '\(call.name.value)' must lead into the elements of 'in':"
                    + " write \(list.value.name)[].name")
        case .absent, .member, .array: break
        }
    }
}

extension Config.Body {
    /// The declared type because of which there is never an array at a path; nil if there can be one.
    fileprivate func typeWithoutArray(
        at path: [TemplateText.Step]
    ) -> Located<Config.Property.Kind>? {
        var (type, properties) = (type, properties)
        for step in path {
            guard case .key(let key) = step else { return nil }
            if let type, type.value != .object { return type }
            guard let property = properties.first(where: { $0.name.value == key }) else {
                return nil
            }
            (type, properties) = (property.type, property.properties)
        }
        return type?.value == .array ? nil : type
    }
}

extension Located<TemplateText.Reference> {
    /// The list as a path that begins with the name of its call.
    fileprivate var path: JSONPath? { try? JSONPath(value.name) }
}
