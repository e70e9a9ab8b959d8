import GatewayConfig

/// Numbers that the operator gave for the whole process, and what each worker gets of them.
package struct SharedNumbers {
    struct Number {
        let name: String
        /// For the whole process.
        let written: Int
        /// For one worker.
        let share: Int
    }

    /// Whose numbers: a backend's name, `limits`, or an endpoint.
    let subject: String
    let numbers: [Number]

    /// `stock: max_concurrent 50, 13 for each of 4 workers; queue 10, 3 each`
    package func line(workers: Int) -> String {
        let texts = numbers.enumerated().map { index, number in
            "\(number.name) \(number.written), \(number.share) "
                + (index == 0 ? "for each of \(workers) workers" : "each")
        }
        return "\(subject): \(texts.joined(separator: "; "))"
    }
}

extension Planner {
    /// Those that are written, where there are several workers.
    var shares: [SharedNumbers] {
        guard workers > 1 else { return [] }
        let all = [limits] + config.backends.map(numbers) + config.endpoints.map(numbers)
        return all.filter { !$0.numbers.isEmpty }
    }

    private var limits: SharedNumbers {
        let limits = config.limits
        return SharedNumbers(
            subject: "limits",
            numbers: [
                number("connections", limits?.connections),
                number("requests_in_flight", limits?.requestsInFlight),
                number("buffered_bytes", limits?.bufferedBytes),
            ].compactMap { $0 })
    }

    private func numbers(of backend: Config.Backend) -> SharedNumbers {
        // Without `max_concurrent` there is no queue.
        let queue = backend.maxConcurrent == nil ? nil : backend.queue?.size
        return SharedNumbers(
            subject: backend.name.value,
            numbers: [
                number("max_concurrent", backend.maxConcurrent), number("queue", queue),
                number("max_idle", backend.keepalive?.maxIdle),
            ].compactMap { $0 })
    }

    private func numbers(of endpoint: Config.Endpoint) -> SharedNumbers {
        SharedNumbers(
            subject: endpoint.title,
            numbers: [number("max_in_flight", endpoint.maxInFlight)].compactMap { $0 })
    }

    private func number(_ name: String, _ written: Located<Int>?) -> SharedNumbers.Number? {
        written.map {
            SharedNumbers.Number(name: name, written: $0.value, share: share($0.value))
        }
    }
}
