/// The names behind the numbers of a record: those of the endpoint that a request was matched with,
/// under the configuration that it began with.
///
/// Made once per endpoint when a chain is built, so that a record needs one reference and no text.
package final class RecordedEndpoint: Sendable {
    package struct Call: Sendable {
        package let name: String
        package let backend: String
        /// Host and port, in the order of the configuration.
        package let hosts: [FieldValue]

        package init(name: String, backend: String, hosts: [FieldValue]) {
            self.name = name
            self.backend = backend
            self.hosts = hosts
        }
    }

    /// `GET /products/{id}`
    package let name: String
    /// Its responses are held back by `min_duration`, so its times must not be shown.
    package let isPadded: Bool
    /// By call index.
    package let calls: [Call]

    package init(name: String, isPadded: Bool, calls: [Call]) {
        self.name = name
        self.isPadded = isPadded
        self.calls = calls
    }
}
