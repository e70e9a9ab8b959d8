import Basics
import JSONText
import YAMLReader

/// The rules for references to members that never exist.
extension ConfigCheck {
    /// A member of a response that `take`, `keep`, `drop` or `rename` of its call removes.
    mutating func checkMember(
        _ reference: Located<TemplateText.Reference>, of name: String,
        in endpoint: Config.Endpoint, _ uses: String, isTested: Bool
    ) {
        guard case .call(_, let path) = reference.value.source,
            let call = endpoint.calls.first(where: { $0.name.value == name }),
            !["take", "keep", "drop", "rename"].contains(where: {
                unread.contains($0, of: call.location)
            })
        else { return }
        let wanted = JSONPath(referring: path)
        guard let key = call.keyRemoving(wanted) else {
            checkTaken(reference, path, by: call, uses)
            return
        }
        reportMissing(
            reference, uses + "'\(key)' of call '\(name)' removes this member", isTested: isTested)
    }

    /// A reference to a member of an element: of a list that a call has without it, or in a path without a value.
    mutating func checkElement(
        _ reference: Located<TemplateText.Reference>, of call: Config.Call,
        in endpoint: Config.Endpoint
    ) {
        let uses = "call '\(call.name.value)' uses {\(reference.value.text)}; "
        if reference.value.isOptional,
            call.pathReferences.contains(where: { $0.location == reference.location })
        {
            problems.error(
                at: reference.location,
                uses + "a path segment cannot be left out; remove the '?' or use it in the query")
        }
        guard case .call(let name, let list)? = call.each?.list?.value.source.asCall,
            let source = endpoint.calls.first(where: { $0.name.value == name }),
            !["take", "keep", "drop", "rename"].contains(where: {
                unread.contains($0, of: source.location)
            })
        else { return }
        var inside: [TemplateText.Step] = []
        if case .call(_, let path) = reference.value.source { inside = path }
        let wanted = JSONPath(
            steps: JSONPath(referring: list).steps + [.everyElement]
                + JSONPath(referring: inside).steps)
        guard let key = source.keyRemoving(wanted) else { return }
        reportMissing(
            reference, uses + "'\(key)' of call '\(name)' removes this member",
            isTested: reference.value.isOptional)
    }

    /// Warns of a reference that repeats `take`, since it begins at the result of `take`.
    private mutating func checkTaken(
        _ reference: Located<TemplateText.Reference>, _ path: [TemplateText.Step],
        by call: Config.Call, _ uses: String
    ) {
        guard let take = call.take, take.isVerbatim,
            let taken = (try? JSONPath(take.value))?.steps,
            JSONPath(referring: path).steps.starts(with: taken)
        else { return }
        problems.warning(
            at: reference.location,
            uses + "references begin at the result of 'take: \(take.value)' of call"
                + " '\(call.name.value)', so leave '\(take.value)' out")
    }

    /// A member of the client's body that `unknown_fields: refuse` does not let pass.
    mutating func checkBodyMember(
        _ reference: Located<TemplateText.Reference>, _ path: [TemplateText.Step],
        in endpoint: Config.Endpoint, _ uses: String, isTested: Bool
    ) {
        guard let body = endpoint.body, body.unknownFields?.value == .refuse, wasRead else {
            return
        }
        var (properties, required) = (body.properties, body.required)
        for step in path {
            // An object without declared members may have any.
            guard case .key(let key) = step, !properties.isEmpty || !required.isEmpty else {
                return
            }
            let property = properties.first { $0.name.value == key }
            guard property != nil || required.contains(where: { $0.value == key }) else {
                reportMissing(
                    reference, uses + "'unknown_fields: refuse' refuses a body with this member",
                    isTested: isTested || reference.value.isOptional)
                return
            }
            (properties, required) = (property?.properties ?? [], property?.required ?? [])
        }
    }

    /// A call without a value is always skipped; a condition without one never changes.
    private mutating func reportMissing(
        _ reference: Located<TemplateText.Reference>, _ message: String, isTested: Bool
    ) {
        if isTested {
            problems.warning(at: reference.location, message + ", so the value is always missing")
        } else {
            problems.error(at: reference.location, message)
        }
    }
}

extension Config.Call {
    /// The key because of which the result never has a value at a path; nil if it can have one.
    fileprivate func keyRemoving(_ path: JSONPath) -> String? {
        let take = take.flatMap { try? JSONPath($0.value) }
        let keep = keep.map { $0.value.compactMap { try? JSONPath($0.value) } }
        let drop = drop.compactMap { try? JSONPath($0.value) }
        let rename = renamedMembers.compactMap { entry in
            (try? JSONPath(entry.path.value)).map { JSONShape.Rename($0, to: entry.name.value) }
        }
        func shape(
            take: JSONPath? = nil, keep: [JSONPath]? = nil, drop: [JSONPath] = [],
            renames: Bool = true
        ) -> JSONShape? {
            try? JSONShape(
                take: take, keep: keep, drop: drop, rename: renames ? rename : [],
                usesCamelCase: renames && usesCamelCase)
        }
        guard let whole = shape(take: take, keep: keep, drop: drop), !whole.canHave(path) else {
            return nil
        }
        let shapes = [
            ("take", shape(take: take, renames: false)), ("rename", shape()),
            ("drop", shape(drop: drop)),
        ]
        return shapes.first { $0.1?.canHave(path) == false }?.0 ?? "keep"
    }
}

extension JSONPath {
    /// The path of a reference.
    fileprivate init(referring path: [TemplateText.Step]) {
        self.init(
            steps: path.map { step in
                switch step {
                case .key(let key): .key(Bytes(key))
                case .index(let index): .element(index)
                }
            })
    }
}

extension TemplateText.Source {
    /// A call by its name alone, with an empty path.
    fileprivate var asCall: TemplateText.Source {
        if case .name(let name) = self { .call(name, path: []) } else { self }
    }
}
