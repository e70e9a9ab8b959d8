import Rehearsal

/// The access log has one line per request, with the status of the response, or 499, and the endpoint.
struct LogCheck {
    let record: RunRecord
    let violations: ViolationLog

    func check() {
        var statuses: [[Int]] = Array(repeating: [], count: record.requests.count)
        var endpoints: [String?] = Array(repeating: nil, count: record.requests.count)
        for line in record.log where line["msg"]?.string == "request" {
            guard let id = line["id"]?.string, let number = Int(id.dropFirst()), id.hasPrefix("r"),
                statuses.indices.contains(number), let status = line["status"]?.integer
            else { continue }
            statuses[number].append(status)
            endpoints[number] = line["endpoint"]?.string
        }
        for request in record.requests.compactMap({ $0 }) where request.request.defect == nil {
            check(request, statuses[request.request.number])
            if let name = endpoints[request.request.number] {
                check(request, name)
            } else if request.response?.status == 200, !statuses[request.request.number].isEmpty,
                record.configs.allSatisfy({ $0.endpoint(of: request.request) != nil })
            {
                violations.add(.log, request.mark, "the log has no endpoint")
            }
        }
    }

    /// During a reload, a request may be served under either configuration.
    private func check(_ request: RequestRecord, _ name: String) {
        let names = record.configs.map { config in
            config.endpoint(of: request.request).map { config.name(of: $0) }
        }
        if !names.contains(name) {
            violations.add(
                .log, request.mark,
                "the log has the endpoint '\(name)', expected one of \(names.map { $0 ?? "none" })")
        }
    }

    private func check(_ request: RequestRecord, _ logged: [Int]) {
        let statuses = logged.map(String.init).joined(separator: ", ")
        guard logged.count <= 1 else {
            return violations.add(.log, request.mark, "logged \(logged.count) times: \(statuses)")
        }
        guard let response = request.response, response["X-Request-Id"] == request.mark else {
            return
        }
        if logged != [response.status] {
            violations.add(
                .log, request.mark, "the response is \(response.status), the log has '\(statuses)'")
        }
    }
}
