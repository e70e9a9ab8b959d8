import HTTP
import JSONText
import Promises

extension EndpointCall {
    /// Makes a request for each element; the part is an array.
    func startList(_ list: ListPlan, _ state: FanOutState) -> LocalPromise<Part> {
        do throws(CallFailure) {
            var left = 0
            let elements = try list.elements(
                in: state, ValueNames(of: state.endpoint.plan), left: &left)
            if left > 0 { state.recordTruncation(of: plan, by: left) }
            state.recordBegin(of: plan)
            let run =
                elements.isEmpty
                ? nil : ListRun(self, list, elements, state, within: try wholeLimit(state))
            state.record.recordList(
                ListRecord(
                    call: plan.index, elements: elements.count, shared: run?.sharedCount ?? 0,
                    truncated: left))
            guard let run else {
                state.recordList([], of: plan)
                let part = Part(value: .emptyArray, fields: Fields())
                state.recordPart(part, of: plan, from: nil)
                return state.context.local.value(part)
            }
            return run.start()
        } catch {
            return state.context.local.error(failCall(error, state))
        }
    }
}
