import HTTPClient
import Reactor

/// A request over HTTP from the templates of the configuration, and a response in JSON.
final class JSONCall: CallKind {
    private let builder: RequestBuilder
    private let decoder: Decoder

    init(_ builder: RequestBuilder, _ decoder: Decoder) {
        self.builder = builder
        self.decoder = decoder
    }

    func request(with values: CallValues) throws(CallFailure) -> ClientRequest {
        try builder.request(with: values)
    }

    func part(
        of response: ClientResponse, on loop: any Loop, reporting droppedKeys: inout [String]
    ) throws -> Part {
        try decoder.part(of: response, on: loop, reporting: &droppedKeys)
    }
}
