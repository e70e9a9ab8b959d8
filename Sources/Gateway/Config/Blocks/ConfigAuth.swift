package import YAMLReader

extension Config {
    /// One of `auth:`, a method by which clients prove their identity: exactly one of the blocks.
    package struct Authenticator: Sendable {
        package let name: Located<String>
        package let location: SourceLocation
        package var apiKey: APIKeys?
        package var basic: Passwords?
        package var jwt: JWT?
        package var certificate: ClientCertificateRule?

        init(name: Located<String>, location: SourceLocation) {
            self.name = name
            self.location = location
        }
    }

    /// `api_key:`, random keys in a header of their own.
    package struct APIKeys: Sendable {
        package let location: SourceLocation
        package var header: Located<String>?
        package var keys: Located<KeyFile>?

        init(location: SourceLocation) {
            self.location = location
        }
    }

    /// `basic:`, generated passwords in `Authorization` (RFC 7617).
    package struct Passwords: Sendable {
        package let location: SourceLocation
        package var keys: Located<KeyFile>?

        init(location: SourceLocation) {
            self.location = location
        }
    }

    /// The file of `keys:`, which has the hashes of keys or passwords.
    package struct KeyFile: Sendable {
        /// The name of the file as messages may quote it.
        package let title: String
        /// Those that could be read.
        package let entries: [KeyEntry]
        /// Whether the file has no entries.
        package let isEmpty: Bool
    }

    /// An entry of a key file. Several entries may have the same id: while a client changes its key,
    /// the old and the new one are valid.
    package struct KeyEntry: Sendable {
        package let location: SourceLocation
        /// `id`, or `user`.
        package var id: Located<String>?
        package var hash: Located<KeyHash>?
        package var scopes: [Located<String>] = []
        /// Seconds since 1970.
        package var expires: Located<Int64>?
        package var plan: Located<String>?
    }

    /// `certificate:`, the verified certificates of clients.
    package struct ClientCertificateRule: Sendable {
        package let location: SourceLocation
        /// Empty for every certificate that a listener accepts.
        package var names: [Located<NamePattern>] = []

        init(location: SourceLocation) {
            self.location = location
        }
    }

    /// `auth_failures:`
    package enum AuthFailures: Sendable, Equatable {
        case off
        case rate(Rate)
    }

    /// `auth:` of an endpoint or of `defaults`.
    package enum AuthSetting: Sendable {
        /// The endpoint is public.
        case none
        case rule(AuthRule)
    }

    /// Which callers an endpoint accepts.
    package struct AuthRule: Sendable {
        package let location: SourceLocation
        /// The names of authenticators, of which one must accept the request.
        package var any: [Located<String>] = []
        /// Those that the caller must have, all of them.
        package var scopes: [Located<String>] = []
        /// Conditions on the head of the request and the caller, which must all hold.
        package var require: [Located<Condition>] = []

        init(location: SourceLocation) {
            self.location = location
        }
    }
}

extension Config.Authenticator {
    /// The key file of either kind.
    package var keyFile: Located<Config.KeyFile>? { apiKey?.keys ?? basic?.keys }

    /// The header that clients send their credential in; nil for a certificate.
    package var credentialHeader: String? {
        if certificate != nil { return nil }
        if let jwt { return jwt.header }
        guard let apiKey else { return "Authorization" }
        return apiKey.header?.value ?? PlanDefaults.apiKeyHeader
    }

    /// The same as a message may quote it.
    package var quotedCredentialHeader: String? {
        (apiKey?.header ?? jwt?.place?.header)?.quoted ?? credentialHeader
    }
}
