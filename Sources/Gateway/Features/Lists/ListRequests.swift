import Basics
import HTTP
import HTTPClient
import JSONText

/// The requests for the elements of a list, before any of them is sent.
///
/// Elements whose requests would be equal share one, and so do the elements of a batch.
struct ListRequests {
    /// One request.
    struct Shared {
        /// The elements whose values it has.
        let sources: [Int]
        var elements: [Int]
        /// Nil for one that is built when it starts: a large one, or one after many.
        fileprivate(set) var request: ClientRequest?
    }

    private(set) var shared: [Shared] = []
    /// By element, with `batch`.
    private(set) var matchKeys: [[UInt8]?] = []
    /// The elements for which no request can be built.
    private(set) var failures: [(element: Int, failure: CallFailure)] = []

    private let plan: CallPlan
    private let list: ListPlan
    private let kind: any CallKind
    private let names: ValueNames
    private let elements: [JSONSlice]
    private let values: CallValues
    private let commonValues: SharedValues

    /// The references to the element in the requests, and their paths.
    private let references: [CompiledTemplate.Reference]
    private let paths: [JSONPath?]

    /// Bytes of a request that is kept until it starts.
    private static let keptMax = 4096
    /// Bytes of the requests that are built before the first one starts.
    private static let builtMax = 4 << 20

    init(
        for elements: [JSONSlice], of plan: CallPlan, _ list: ListPlan, _ kind: any CallKind,
        _ names: ValueNames, _ values: CallValues
    ) {
        self.plan = plan
        self.list = list
        self.kind = kind
        self.names = names
        self.elements = elements
        self.values = values
        commonValues = SharedValues(of: values)
        references = plan.references.filter { reference in
            if case .element = reference.source { true } else { false }
        }
        paths = references.map { reference in
            if case .element(let path) = reference.source { path } else { nil }
        }
        if let batch = list.batch { addBatches(batch) } else { addRequests() }
    }

    /// How many elements share the request of another one.
    var sharedCount: Int { shared.reduce(0) { $0 + $1.elements.count - 1 } }

    /// The values of a request.
    func values(of index: Int) -> CallValues { values(for: shared[index].sources) }

    /// Throws why a request that is not kept can no longer be built.
    mutating func takeRequest(_ index: Int) throws(CallFailure) -> ClientRequest {
        if let request = shared[index].request.take() { return request }
        return try request(for: shared[index].sources)
    }

    // MARK: Building

    private mutating func addRequests() {
        var byValues: [[UInt8]: Int] = [:]
        var byBytes: [[UInt8]: Int] = [:]
        var built = 0
        for index in elements.indices {
            do throws(CallFailure) {
                if let obstacle = plan.obstacle(in: elements[index]) { throw obstacle }
                let key = list.isDistinct ? key(of: elements[index]) : nil
                if let key, let equal = byValues[key] {
                    shared[equal].elements.append(index)
                    continue
                }
                // Later ones are built when they start, so that the worker serves others in between.
                let request = built < Self.builtMax ? try request(for: [index]) : nil
                built += request?.byteCount ?? 0
                let isSmall = request.map { $0.byteCount <= Self.keptMax } ?? false
                if list.isDistinct, isSmall, let identity = request?.identity {
                    if let equal = byBytes[identity] {
                        shared[equal].elements.append(index)
                        continue
                    }
                    byBytes[identity] = shared.count
                }
                if let key { byValues[key] = shared.count }
                shared.append(
                    Shared(sources: [index], elements: [index], request: isSmall ? request : nil))
            } catch {
                failures.append((index, error))
            }
        }
    }

    /// Equal for elements with equal values in their requests. Different ones may have equal requests, too.
    private func key(of element: JSONSlice) -> [UInt8] {
        var key: [UInt8] = []
        for path in paths {
            if let value = element.value(at: path) { key.append(value.bytes) }
            // No value has this byte.
            key.append(0)
        }
        return key
    }

    /// One request for so many distinct values; elements with equal ones share it.
    private mutating func addBatches(_ batch: ListPlan.Batch) {
        matchKeys = Array(repeating: nil, count: elements.count)
        var order: [[UInt8]] = []
        var sharing: [[UInt8]: [Int]] = [:]
        for index in elements.indices {
            do throws(CallFailure) {
                let key = try matchKey(of: index, batch)
                matchKeys[index] = key
                if sharing[key] == nil {
                    // A value that cannot be sent fails its own elements, not the batch.
                    _ = try request(for: [index])
                    order.append(key)
                }
                sharing[key, default: []].append(index)
            } catch {
                failures.append((index, error))
            }
        }
        for start in stride(from: 0, to: order.count, by: batch.size) {
            let keys = order[start..<min(start + batch.size, order.count)]
            let groups = keys.map { sharing[$0] ?? [] }
            let sources = groups.compactMap(\.first)
            let indices = groups.flatMap(\.self)
            do throws(CallFailure) {
                let request = try request(for: sources)
                let isSmall = request.byteCount <= Self.keptMax
                shared.append(
                    Shared(sources: sources, elements: indices, request: isSmall ? request : nil))
            } catch {
                failures += indices.map { ($0, error) }
            }
        }
    }

    /// The value that assigns a result to an element.
    private func matchKey(
        of index: Int, _ batch: ListPlan.Batch
    ) throws(CallFailure) -> [UInt8] {
        if let obstacle = plan.obstacle(in: elements[index]) { throw obstacle }
        let values = values.with(ListElement(elements[index], commonValues))
        let missing = (references + [batch.value]).first { values.text(of: $0.source) == nil }
        guard missing == nil, let key = values.json(of: batch.value.source)?.matchKey else {
            throw .skipped(names.reason(naming: missing ?? batch.value))
        }
        return key
    }

    private func request(for sources: [Int]) throws(CallFailure) -> ClientRequest {
        try kind.request(with: values(for: sources))
    }

    private func values(for sources: [Int]) -> CallValues {
        values.with(
            list.batch == nil
                ? ListElement(elements[sources[0]], commonValues)
                : ListElement(batch: sources.map { elements[$0] }, commonValues))
    }
}

extension ClientRequest {
    /// Bytes of the target, the fields and the body.
    fileprivate var byteCount: Int {
        let bodyCount = if case .bytes(let content) = body { content.count } else { 0 }
        return target.text.count + fields.memoryBytes + bodyCount
    }
}
