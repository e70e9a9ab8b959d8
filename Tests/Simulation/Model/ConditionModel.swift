import Rehearsal

/// The model of `when`: which results the condition of a call can have in a recorded run.
///
/// A condition on a response has several possible results if the call has several possible outcomes.
struct ConditionModel: ConditionInput {
    let record: RunRecord
    let request: RequestRecord
    let endpoint: DrawnEndpoint
    let config: DrawnConfig
    /// The failures that the response lists, if it lists any.
    var listed: [ListedFailure] = []

    private var model: RequestModel { RequestModel(request: request.request, config: config) }

    func canBeMade(_ call: DrawnCall) -> Bool { results(of: call).contains(true) }
    func mustBeMade(_ call: DrawnCall) -> Bool { !results(of: call).contains(false) }

    /// The possible results of a call's condition.
    private func results(of call: DrawnCall) -> Set<Bool> {
        call.when.map { results(of: $0) } ?? [true]
    }

    // MARK: Values

    func wasSent(_ param: String) -> Bool { model.wasSent(param) }

    func text(of param: String) -> String? { model.value(of: param) }

    func values(of source: DrawnUse.Source) -> [Tree?]? {
        guard case .call(let index, let path) = source else {
            return [value(of: source)]
        }
        let other = endpoint.calls[index]
        let results = results(of: other)
        guard results.contains(true) else { return [nil] }
        let evidence = CallEvidence(other, of: request, endpoint, config, record)
        if record.excuses.add(.unsolicitedData, request, if: evidence.isAmbiguous)
            || record.excuses.add(.memory, request, if: record.mayLackRoom)
        {
            return nil
        }
        var values = evidence.values.map { $0.value(at: TreePath(path))?.ifPresent }
        let hasFailed = listed.contains { $0.call == other.name && $0.kind != .collision }
        if values.isEmpty || hasFailed || evidence.mayBeCancelled { values.append(nil) }
        return values
    }

    private func value(of source: DrawnUse.Source) -> Tree? {
        switch source {
        case .param(let name): model.tree(ofParam: name, model.value(of: name))
        // It may be an array.
        case .bodyField(let name): model.body?[name]?.ifPresent
        default: model.value(of: source).map { .text($0) }
        }
    }
}
