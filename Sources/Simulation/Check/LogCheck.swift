import Rehearsal

/// The access log has one line for each request, and it says what the client was told, or 499.
struct LogCheck {
    let record: RunRecord
    let violations: ViolationLog

    func run() {
        var statuses: [[Int]] = Array(repeating: [], count: record.requests.count)
        for line in record.log where line["msg"]?.string == "request" {
            guard let id = line["id"]?.string, let number = Int(id.dropFirst()), id.hasPrefix("r"),
                statuses.indices.contains(number), let status = line["status"]?.integer
            else { continue }
            statuses[number].append(status)
        }
        for request in record.requests.compactMap({ $0 }) where request.request.flaw == nil {
            check(request, statuses[request.request.number])
        }
    }

    private func check(_ request: RequestRecord, _ logged: [Int]) {
        let words = logged.map(String.init).joined(separator: ", ")
        guard logged.count <= 1 else {
            return violations.add(.log, request.mark, "in the log \(logged.count) times: \(words)")
        }
        guard let answer = request.answer, answer["X-Request-Id"] == request.mark else { return }
        if logged != [answer.status] {
            violations.add(
                .log, request.mark, "answered \(answer.status), and the log says '\(words)'")
        }
    }
}
