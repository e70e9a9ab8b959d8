import Testing

@testable import Gateway

/// References in braces, their locations, and invalid templates.
@Suite struct TemplateTextTests {
    @Test(arguments: [
        ("/items", "'/items'"),
        ("/items/{id}", "'/items/' id@8=name(id)"),
        ("{id}", "id@1=name(id)"),
        ("/ü/{id}", "'/ü/' id@4=name(id)"),
        ("/for/{profile.segment}", "'/for/' profile.segment@6=profile[segment]"),
        ("{a.items[1].id}", "a.items[1].id@1=a[items 1 id]"),
        ("{a[0]}", "a[0]@1=a[0]"),
        ("{request.header.X-Tenant}", "request.header.X-Tenant@1=header(X-Tenant)"),
        ("{request.header.X-Tenant?}", "request.header.X-Tenant?@1=header(X-Tenant)?"),
        ("{request.query.page}", "request.query.page@1=query(page)"),
        ("{request.query.filter[a.b]?}", "request.query.filter[a.b]?@1=query(filter[a.b])?"),
        ("{request.body?}", "request.body?@1=body[]?"),
        ("{request.client}", "request.client@1=client"),
        ("{request.client?}", "request.client?@1=client?"),
        ("{request.body.a?}", "request.body.a?@1=body[a]?"),
        ("{lang?}", "lang?@1=name(lang)?"),
        ("{request.body}", "request.body@1=body[]"),
        ("{request.body.a.b[2]}", "request.body.a.b[2]@1=body[a b 2]"),
        ("{{ {id} }}", "'{ ' id@4=name(id) ' }'"),
        ("", ""),
    ])
    func parsesTemplate(_ text: String, as expected: String) throws {
        let segments = try TemplateText(parsing: text).segments
        #expect(segments.map(outline).joined(separator: " ") == expected)
    }

    @Test(arguments: [
        ("/a/{id", 3, "this { is never closed; write {{ for a literal {"),
        ("/a/id}", 5, "unmatched }; write }} for a literal }"),
        ("/{}", 2, "{}: a path must name something, such as a.b or items[].price"),
        (
            "{ id }", 1,
            "{ id }: a reference must not contain spaces; write {{ and }} for literal braces"
        ),
        (
            "{a.items[].id}", 1,
            "{a.items[].id}: [] selects many values; select one, as in items[0].id"
        ),
        ("{[0]}", 1, "{[0]}: a reference starts with a name"),
        ("{request.header.A B}", 1, nil),
        ("{request.header.}", 1, "{request.header.}: '' is not a valid header name"),
        (
            "{request.cookie.q}", 1,
            "{request.cookie.q}: references to the request are {request.header.Name},"
                + " {request.query.name}, {request.client}, {request.caller}, {request.body} and {request.body.field}"
        ),
        (
            "{request.client.port}", 1,
            "{request.client.port}: references to the request are {request.header.Name},"
                + " {request.query.name}, {request.client}, {request.caller}, {request.body} and"
                + " {request.body.field}"
        ),
        ("{request.query.}", 1, "{request.query.}: the name of the query parameter is missing"),
        ("{request.header.X??}", 1, "{request.header.X??}: 'X?' is not a valid header name"),
        ("{?}", 1, "{?}: a path must name something, such as a.b or items[].price"),
    ])
    func refusesInvalidTemplate(_ text: String, offset: Int, problem: String?) {
        let error = #expect(throws: TemplateError.self) { try TemplateText(parsing: text) }
        #expect(error?.offset == offset)
        if let problem { #expect(error?.text == problem) }
    }

    private func outline(_ segment: TemplateText.Segment) -> String {
        guard case .reference(let reference) = segment else {
            if case .literal(let text) = segment { return "'\(text)'" }
            return ""
        }
        let source =
            switch reference.source {
            case .name(let name): "name(\(name))"
            case .call(let name, let path): "\(name)\(outline(path))"
            case .requestHeader(let name): "header(\(name))"
            case .requestQuery(let name): "query(\(name))"
            case .requestClient: "client"
            case .requestCaller: "caller"
            case .requestBody(let path): "body\(outline(path))"
            }
        return "\(reference.text)@\(reference.offset)=\(source)"
            + (reference.isOptional ? "?" : "")
    }

    private func outline(_ path: [TemplateText.Step]) -> String {
        let steps = path.map { step in
            switch step {
            case .key(let key): key
            case .index(let index): "\(index)"
            }
        }
        return "[\(steps.joined(separator: " "))]"
    }
}
