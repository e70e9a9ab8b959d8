/// How far a reader of the recent requests has read: the newest sequence number of each worker. In text
/// `0-4711.1-4693`, worker and number.
struct RequestCursor: Equatable {
    private(set) var numbers: [Int: UInt64] = [:]

    /// More workers than a process has.
    private static let workersMax = 4096

    init() {}

    /// Nil for a text that is no cursor.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= Self.workersMax else { return nil }
        for part in parts where !text.isEmpty {
            let pair = part.split(separator: "-", omittingEmptySubsequences: false)
            guard pair.count == 2, let worker = Int(pair[0]), let number = UInt64(pair[1]),
                worker >= 0, numbers.updateValue(number, forKey: worker) == nil
            else { return nil }
        }
    }

    subscript(worker: Int) -> UInt64 {
        get { numbers[worker] ?? 0 }
        set { numbers[worker] = newValue }
    }

    var text: String {
        numbers.sorted { $0.key < $1.key }.map { "\($0.key)-\($0.value)" }.joined(separator: ".")
    }
}
