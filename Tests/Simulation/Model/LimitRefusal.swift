import Rehearsal

/// Which limits refused a request, as its response shows.
enum LimitRefusal: Equatable {
    /// Rate limits, by their names.
    case rateLimits([String])
    case authFailures
    /// One or the other: the response to HEAD has no body that says so.
    case unknown
}

extension RunRecord {
    /// Nil if no limit refused the request.
    ///
    /// Of a response without a body, a 429 is always a refusal, and its `RateLimit` has the names; but
    /// `auth_failures` refuses with the fields of the limits that granted the request. A 503 may have
    /// other reasons, so that one without a body counts as none.
    func limitRefusal(of request: RequestRecord) -> LimitRefusal? {
        guard let response = request.response, [429, 503].contains(response.status),
            response["Content-Type"] == "application/problem+json"
        else { return nil }
        guard response.body.isEmpty else { return LimitRefusal(problem: response) }
        guard response.status == 429 else { return nil }
        guard let announced = response["RateLimit"] else { return .authFailures }
        let mayBeOther = configs(for: request).contains {
            AuthFailuresModel(request: request.request, config: $0).mayBeRefused
        }
        return mayBeOther ? .unknown : .rateLimits(LimitRefusal.names(in: announced))
    }
}

extension LimitRefusal {
    fileprivate init?(problem response: PeerMessage) {
        guard let tree = Tree(reading: response.body), tree["reason"]?.string == "quota" else {
            return nil
        }
        let names = tree["violated-policies"]?.elements?.compactMap(\.string) ?? []
        self = names == ["auth_failures"] ? .authFailures : .rateLimits(names)
    }

    /// `"per_client";r=0;t=3`
    static func names(in field: String) -> [String] {
        field.split(separator: ", ").compactMap { member in
            member.split(separator: "\"").first.map(String.init)
        }
    }

    /// Nil if it is not certain that rate limits refused the request.
    var violated: [String]? { if case .rateLimits(let names) = self { names } else { nil } }
}
