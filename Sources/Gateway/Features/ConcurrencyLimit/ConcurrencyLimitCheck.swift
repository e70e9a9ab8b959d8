/// The rules for `queue` of a backend.
extension ConfigCheck {
    mutating func checkQueue(of backend: Config.Backend) {
        guard let queue = backend.queue, backend.maxConcurrent == nil,
            isRead("max_concurrent", of: backend.location)
        else { return }
        problems.warning(at: queue.location, "'queue' has no effect without 'max_concurrent'")
    }
}
