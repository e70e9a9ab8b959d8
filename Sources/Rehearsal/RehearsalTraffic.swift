import Gateway
import GatewayConfig

/// Requests that a configuration takes: each endpoint in its turn, with values that are let through.
struct RehearsalTraffic {
    let survey: ConfigSurvey
    let dice: RandomSource
    let optional: [OptionalRule]

    func request(_ number: Int) -> (request: ScriptedRequest, endpoint: Int) {
        let dice = dice.dice("request", number)
        let index = dice.number(0...max(0, survey.endpoints.count - 1))
        let endpoint = survey.endpoints[index]
        var request = ScriptedRequest(number: number, method: endpoint.method)
        var target = ""
        for segment in endpoint.path {
            switch segment {
            case .literal(let text): target += "/" + text.percentEncoded
            case .param(let values): target += "/" + pick(values, dice).percentEncoded
            }
        }
        request.target = target.isEmpty ? "/" : target
        for param in endpoint.params
        where param.isRequired || dice.chance(optional.share(of: param.name)) {
            let value = pick(param.values, dice)
            if param.isHeader {
                request.headers.append((param.name, value))
            } else {
                request.query.append((param.name, value))
            }
        }
        for name in endpoint.headers where request.header(name) == nil {
            request.headers.append((name, "sample"))
        }
        request.body = endpoint.body
        return (request, index)
    }

    private func pick(_ values: [String], _ dice: RandomSource) -> String {
        values.isEmpty ? "sample" : dice.pick(values)
    }
}
