package import YAMLReader

extension Config {
    /// One of `endpoints:`, a route that clients call.
    package struct Endpoint: Sendable {
        package let location: SourceLocation
        package var route: Located<Route>?
        package var matching = MatchingKeys()
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
        package var respond: Respond?
        package var parts: Parts?
        /// Instead of `calls`.
        package var proxy: Proxy?

        init(location: SourceLocation) {
            self.location = location
        }

        package enum SucceedWhen: String, Sendable, CaseIterable { case any, all, required }
        package enum Report: String, Sendable, CaseIterable {
            case body, header, off

            /// The member of a response that has the report.
            static let key = "_gateway"
        }

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

}
