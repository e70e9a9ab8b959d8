import Basics
import HTTP

// `unknown_query: refuse`: query parameters that nothing uses are errors of the client.
extension Target {
    /// A fault for each other parameter, once for each name.
    func unknownQuery(besides known: [Bytes]) -> [InvalidRequest.Fault] {
        guard let query else { return [] }
        var faults: [InvalidRequest.Fault] = []
        for parameter in QueryParameters(query) where !known.contains(where: parameter.isNamed) {
            let fault = InvalidRequest.Fault(
                location: .query, name: String(parameter.decodedName ?? parameter.name),
                reason: .unknown)
            if !faults.contains(fault) { faults.append(fault) }
        }
        return faults
    }
}
