import Gateway

/// Draws requests that a configuration accepts: each for a random endpoint, with valid values as far as
/// there are samples of them.
struct RehearsalTraffic {
    let survey: ConfigSurvey
    let random: RandomSource
    let optional: [OptionalRule]
    let uploads: StreamRules

    func request(_ number: Int) -> (request: ScriptedRequest, endpoint: Int) {
        let random = random.derived("request", number)
        let index = random.number(0...max(0, survey.endpoints.count - 1))
        let endpoint = survey.endpoints[index]
        var request = ScriptedRequest(number: number, method: endpoint.method)
        var target = ""
        for segment in endpoint.path {
            switch segment {
            case .literal(let text): target += "/" + text.percentEncoded
            case .param(let values): target += "/" + pick(values, random).percentEncoded
            }
        }
        request.target = target.isEmpty ? "/" : target
        if let host = endpoint.host { request.host = host }
        for param in endpoint.params
        where param.isRequired || random.chance(optional.share(of: param.name)) {
            let value = pick(param.values, random)
            if param.isHeader {
                request.headers.append((param.name, value))
            } else {
                request.query.append((param.name, value))
            }
        }
        request.body = endpoint.body
        if let method = endpoint.uploadMethod, let call = endpoint.calls.first {
            let backend = survey.backends[call.backend].name
            request.upload = uploads.body(for: backend, random.derived("upload"))
            if request.upload != nil { request.method = method }
        }
        if let type = endpoint.contentType, request.body != nil || request.upload != nil,
            request.header("Content-Type") == nil
        {
            request.headers.append(("Content-Type", type))
        }
        for name in endpoint.headers where request.header(name) == nil {
            request.headers.append((name, "sample"))
        }
        return (request, index)
    }

    private func pick(_ values: [String], _ random: RandomSource) -> String {
        values.isEmpty ? "sample" : random.pick(values)
    }
}
