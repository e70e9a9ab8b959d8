package import YAMLReader

extension Config {
    /// One of `endpoints:`, a route that clients call.
    package struct Endpoint: Sendable {
        package let location: SourceLocation
        package var route: Located<Route>?
        package var params: [Param] = []
        package var forward: Forward?
        /// Sent with all calls.
        package var headers: [Call.HeaderTemplate] = []
        package var body: Body?
        package var deadline: Located<Duration>?
        package var padding = PaddingKeys()
        package var succeedWhen: Located<SucceedWhen>?
        package var report: Located<Report>?
        package var expose: Located<Expose>?
        package var partialStatus: Located<Int>?
        package var cacheControl: Located<String>?
        package var responseHeaders: [Header] = []
        package var clients: Access?
        package var cors: Located<CORS.Setting>?
        package var auth: Located<AuthSetting>?
        /// What happens to paths that servers read in different ways.
        package var paths: Located<Paths>?
        package var contentTypes = ContentTypesKeys()
        package var unknownQuery: Located<UnknownQuery>?
        package var serverTiming: Located<Bool>?
        package var maxInFlight: Located<Int>?
        /// Bytes of a client's body, and of the body of each call's response.
        package var maxBody: Located<Int>?
        /// For its calls.
        package var timeout: Located<Duration>?
        /// Replaces the list of `defaults`.
        package var rateLimits: Located<[Located<LimitUse>]>?
        package var calls: [Call] = []
        /// Instead of `calls`.
        package var proxy: Proxy?

        init(location: SourceLocation) {
            self.location = location
        }

        package enum SucceedWhen: String, Sendable, CaseIterable { case any, all, required }
        package enum Report: String, Sendable, CaseIterable { case body, header, off }

        /// What happens to query parameters that no key of the endpoint names.
        package enum UnknownQuery: String, Sendable, CaseIterable { case drop, refuse }

        /// Whether paths that servers read in different ways are refused.
        package enum Paths: String, Sendable, CaseIterable { case strict, lenient }

        /// What a response reveals about a failure: only its kind, or also host, port and error
        /// text.
        package enum Expose: String, Sendable, CaseIterable { case kinds, details }
    }

    /// `forward:`, on an endpoint or a call: the client headers and query parameters to forward.
    package struct Forward: Sendable {
        let location: SourceLocation
        package var headers: [Located<String>] = []
        package var query = Query.names([])

        init(location: SourceLocation) {
            self.location = location
        }

        /// Which query parameters are forwarded.
        package enum Query: Sendable {
            case names([Located<String>])
            /// Every parameter that the endpoint does not declare.
            case all
        }
    }

    /// `body:` of an endpoint, the validation of a client's body.
    package struct Body: Sendable {
        package let location: SourceLocation
        package var type: Located<Property.Kind>?
        package var required: [Located<String>] = []
        package var properties: [Property] = []
        /// Bytes.
        package var max: Located<Int>?
        package var unknownFields: Located<UnknownFields>?

        init(location: SourceLocation) {
            self.location = location
        }

        /// What happens to members that `properties` and `required` do not name.
        package enum UnknownFields: String, Sendable, CaseIterable { case keep, refuse }
    }

    /// One of `properties:`, the rules for a member of a body; they can be nested.
    package struct Property: Sendable {
        package let name: Located<String>
        package let location: SourceLocation
        package var type: Located<Kind>?
        package var required: [Located<String>] = []
        package var properties: [Property] = []
        package var min: Located<Number>?
        package var max: Located<Number>?
        package var minLength: Located<Int>?
        package var maxLength: Located<Int>?
        package var pattern: Located<String>?
        package var oneOf: [Located<String>] = []

        init(name: Located<String>, location: SourceLocation) {
            self.name = name
            self.location = location
        }

        package enum Kind: String, Sendable, CaseIterable {
            case object, array, string, integer, number, boolean, null
        }
    }
}
