import Basics
import HTTP
import HTTPClient
import JSONText
import Promises

/// The result of an attempt to export spans (OTLP specification, "OTLP/HTTP Response").
enum ExportResult: Equatable {
    /// The collector has the spans, except those that it rejected.
    case accepted(rejected: Int, message: String)
    /// The same request may succeed later.
    case temporary(problem: String, retryAfter: Duration?)
    /// The collector refuses the request for good.
    case refused(problem: String)

    /// - Parameter unixTime: now, in nanoseconds since 1970
    init(_ result: Result<ClientResponse, any Error>, at unixTime: Int64) {
        switch result {
        case .success(let response): self.init(response, at: unixTime)
        case .failure(let failure as ClientFailure):
            self = .temporary(problem: failure.description, retryAfter: nil)
        case .failure: self = .temporary(problem: "no response in time", retryAfter: nil)
        }
    }

    private init(_ response: ClientResponse, at unixTime: Int64) {
        let problem = "status \(response.status.code)"
        switch response.status.code {
        case 200...299:
            let type = response.fields[.contentType].map { String($0.bytes) } ?? ""
            let partial =
                type.lowercased().hasPrefix("application/x-protobuf")
                ? PartialSuccess(protobuf: response.content) : PartialSuccess(response.content)
            self = .accepted(rejected: partial.rejected, message: partial.message)
        case let status where ExportRetry.isRetryable(status):
            let seconds = response.fields[.retryAfter].flatMap {
                RetryAfter.seconds($0.bytes, at: unixTime)
            }
            self = .temporary(problem: problem, retryAfter: seconds.map { .seconds($0) })
        default: self = .refused(problem: problem)
        }
    }
}

/// The part of a response that reports rejected spans:
/// `{"partialSuccess":{"rejectedSpans":"2","errorMessage":"..."}}`.
private struct PartialSuccess {
    private(set) var rejected = 0
    private(set) var message = ""

    /// `ExportTraceServiceResponse`
    init(protobuf content: Bytes) {
        for case (1, .bytes(let partial)) in ProtobufReader(content.array) {
            for (field, value) in ProtobufReader(partial) {
                switch (field, value) {
                case (1, .number(let count)): rejected = max(0, Int(exactly: count) ?? 0)
                case (2, .bytes(let text)): message = String(decoding: text, as: UTF8.self)
                default: break
                }
            }
        }
    }

    /// A response without it, or one that is no JSON, rejects nothing.
    init(_ content: Bytes) {
        guard let root = try? JSONSlice(validating: content),
            let partial = root.members.first(where: { $0.key.means(Bytes("partialSuccess")) })
        else { return }
        for member in partial.value.members {
            if member.key.means(Bytes("rejectedSpans")) {
                // A 64-bit number is a string in this format; collectors also send numbers.
                rejected = max(0, member.value.text.flatMap { Int(String($0)) } ?? 0)
            } else if member.key.means(Bytes("errorMessage")) {
                message = member.value.text.map { String($0) } ?? ""
            }
        }
    }
}
