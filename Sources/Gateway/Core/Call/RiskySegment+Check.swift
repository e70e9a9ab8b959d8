import Basics
import HTTP

// Checks the risky segments of a request with its values.
extension RiskySegment {
    /// Whether the finished segment is empty or harmful. False where a value is missing, for which the
    /// call is skipped.
    func isRefused(in values: CallValues) -> Bool {
        if let param, let text = values.params[param], !text.isEmpty, text.isPlainPath {
            return false
        }
        var (isEmpty, isPlain) = (!hasText, isTextPlain)
        for case .reference(let reference, _) in pieces {
            let text =
                reference.separator == nil
                ? values.text(of: reference.source) : values.escapedText(of: reference)
            guard let text else { return false }
            if !text.isEmpty { isEmpty = false }
            if !text.isPlainPath { isPlain = false }
        }
        if isEmpty { return true }
        return !isPlain && PathReading(of: finished(with: values).span) == .harmful
    }

    /// The segment as the backend gets it.
    private func finished(with values: CallValues) -> [UInt8] {
        var text: [UInt8] = []
        for piece in pieces {
            switch piece {
            case .literal(let bytes): text.append(bytes)
            case .reference(let reference, _):
                if let value = values.escapedText(of: reference) { text.append(value) }
            }
        }
        return text
    }
}

extension EndpointPlan {
    /// Refuses a request whose values would change the path of a call; segments that depend on
    /// another call's response are checked when the call starts.
    package func checkSegments(_ values: CallValues) throws(InvalidRequest) {
        var faults: [InvalidRequest.Fault] = []
        for index in clientSegments.indices
        where clientSegments[index].segment.isRefused(in: values) {
            guard clientSegments[index].call.condition?.holds(in: values) != false else {
                continue
            }
            let fault = fault(for: clientSegments[index].segment.reported)
            if !faults.contains(fault) { faults.append(fault) }
        }
        if hasLists { faults += listFaults(values) }
        guard faults.isEmpty else { throw InvalidRequest(errors: faults) }
    }

    private func fault(for reference: CompiledTemplate.Reference) -> InvalidRequest.Fault {
        switch reference.source {
        case .param(let index):
            InvalidRequest.Fault(
                location: params[index].location, name: params[index].name, reason: .pathSegment)
        case .requestHeader(let name):
            InvalidRequest.Fault(location: .header, name: "\(name)", reason: .pathSegment)
        case .requestQuery(let name):
            InvalidRequest.Fault(location: .query, name: String(name), reason: .pathSegment)
        case .requestClient, .requestCaller, .token:
            // An address is never empty and never made of dots only; the name of a caller and the
            // claims are part of the credentials, which are headers.
            InvalidRequest.Fault(location: .header, name: reference.name, reason: .pathSegment)
        case .requestBody, .call, .element:
            InvalidRequest.Fault(
                location: .body, name: String(reference.name.dropFirst("request.body.".count)),
                reason: .pathSegment)
        }
    }
}
