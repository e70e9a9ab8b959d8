/// Numbers that are configured for the whole process, and each worker's share of them.
package struct WorkerShares {
    struct Number {
        let name: String
        /// For the whole process.
        let configured: Int
        /// For one worker.
        let share: Int
        var isBytes = false

        /// `20, 5`, `64MiB, 16MiB`
        var text: String {
            [configured, share].map { isBytes ? Quantity.spelled(bytes: $0) : "\($0)" }
                .joined(separator: ", ")
        }
    }

    /// Where they are configured: a backend's name, `limits`, or an endpoint.
    let subject: String
    let numbers: [Number]

    /// `stock: max_concurrent 50, 13 for each of 4 workers; queue 10, 3 each`
    package func line(workers: Int) -> String {
        let texts = numbers.enumerated().map { index, number in
            "\(number.name) \(number.text) "
                + (index == 0 ? "for each of \(workers) workers" : "each")
        }
        return "\(subject): \(texts.joined(separator: "; "))"
    }
}

extension Planner {
    /// The configured numbers, where there are several workers.
    var shares: [WorkerShares] {
        guard workers > 1 else { return [] }
        let all = [limits] + config.backends.map(numbers) + config.endpoints.map(numbers)
        return all.filter { !$0.numbers.isEmpty }
    }

    private var limits: WorkerShares {
        let limits = config.limits
        return WorkerShares(
            subject: "limits",
            numbers: [
                number("connections", limits?.connections),
                number("requests_in_flight", limits?.requestsInFlight),
                number("streams", limits?.streams),
                number("handshakes", limits?.handshakes),
                number("buffered_bytes", limits?.bufferedBytes, isBytes: true),
            ].compactMap { $0 })
    }

    private func numbers(of backend: Config.Backend) -> WorkerShares {
        // Without `max_concurrent` there is no queue.
        let queue = backend.maxConcurrent == nil ? nil : backend.queue?.size
        return WorkerShares(
            subject: backend.name.value,
            numbers: [
                number("max_concurrent", backend.maxConcurrent), number("queue", queue),
                number("max_idle", backend.keepalive?.maxIdle),
            ].compactMap { $0 })
    }

    private func numbers(of endpoint: Config.Endpoint) -> WorkerShares {
        WorkerShares(
            subject: endpoint.title,
            numbers: [number("max_in_flight", endpoint.maxInFlight)].compactMap { $0 })
    }

    private func number(
        _ name: String, _ configured: Located<Int>?, isBytes: Bool = false
    ) -> WorkerShares.Number? {
        configured.map {
            WorkerShares.Number(
                name: name, configured: $0.value, share: share($0.value), isBytes: isBytes)
        }
    }
}
