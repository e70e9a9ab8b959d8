import Basics
import Gateway
import YAMLReader

/// What becomes of a key of a KrakenD object.
enum KrakenDKey: Sendable {
    /// A conversion reads it.
    case converted
    /// It becomes the member at this path, with the value that the function returns.
    case written(String, @Sendable (DocumentNode) -> YAMLTree?)
    /// A conversion reads it; the function returns a text for a value that is lost or changed.
    case checked(@Sendable (DocumentNode) -> String?)
    /// It is lost: a difference that clients or backends can notice.
    case warning(String)
    /// It is lost; clients and backends notice no difference.
    case note(String)
    /// It is lost, and the endpoint must not be written without it.
    case refused(String)
}

/// The keys of one kind of KrakenD object. Keys with the same reason share a row; spaces separate them.
struct KrakenDTable: Sendable, ExpressibleByDictionaryLiteral {
    private let rows: [(name: String, key: KrakenDKey)]
    private let keys: [String: KrakenDKey]

    init(dictionaryLiteral rows: (String, KrakenDKey)...) {
        self.init(
            rows.flatMap { names, key in names.split(separator: " ").map { (String($0), key) } })
    }

    private init(_ rows: [(name: String, key: KrakenDKey)]) {
        self.rows = rows
        keys = Dictionary(uniqueKeysWithValues: rows.map { ($0.name, $0.key) })
    }

    /// The first table, and the rows of the other one whose keys the first does not have.
    static func + (one: KrakenDTable, other: KrakenDTable) -> KrakenDTable {
        KrakenDTable(one.rows + other.rows.filter { one.keys[$0.name] == nil })
    }

    /// KrakenD ignores such keys; they are used for comments.
    static func isComment(_ key: String) -> Bool { key.first.map { "@_$".contains($0) } ?? true }

    func converts(_ key: String) -> Bool {
        if case .converted? = keys[key] { true } else { false }
    }

    /// Why an endpoint with the key must not be written; nil for other keys.
    func refusal(of key: String) -> String? {
        if case .refused(let reason)? = keys[key] { reason } else { nil }
    }

    /// The members that keys of an object become, of the block at this path: `limits`. Their order is
    /// the order of the rows.
    func members(of object: DocumentNode?, in block: String) -> YAMLMembers {
        rows.compactMap { name, key in
            guard case .written(let path, let convert) = key, path.hasPrefix(block + "."),
                let tree = object?[name].flatMap(convert)
            else { return nil }
            return (String(path.dropFirst(block.count + 1)), tree)
        }
    }

    /// Reports the keys of an object that have no equivalent, and the keys that the table does not
    /// contain.
    func report(
        _ object: DocumentNode?, _ findings: ImportFindings,
        where isReported: (DocumentNode.Member) -> Bool = { _ in true }
    ) {
        for member in object?.members ?? [] where !member.isComment && isReported(member) {
            switch keys[member.key] {
            case .converted, .written: break
            case .checked(let loss):
                if let text = loss(member.node) { findings.warning(at: member.node.location, text) }
            case .warning(let reason): findings.reportLoss(of: member, .warning, reason)
            case .note(let reason): findings.reportLoss(of: member, .note, reason)
            case .refused, nil:
                let loss = Self.unknown.first { member.key.hasPrefix($0.prefix) }
                if let (_, severity, reason) = loss {
                    findings.reportLoss(of: member, severity, reason)
                }
            }
        }
    }

    private static let traces =
        "'traces' exports spans over OTLP/HTTP; the admin address has /metrics"
    private static let log = "the log is JSON, on standard output or in a file, for a log collector"

    /// The loss of a key without a row, by the prefix of its name; the first that matches applies.
    private static let unknown: [(prefix: String, ImportFindings.Severity, reason: String)] = [
        ("telemetry/opencensus", .note, traces), ("telemetry/instana", .note, traces),
        ("telemetry/newrelic", .note, traces), ("telemetry/gelf", .note, log),
        ("telemetry/logstash", .note, log),
        ("telemetry/", .note, "the admin address has /metrics"),
        ("documentation/", .note, "the gateway does not generate documentation"),
        ("modifier/", .warning, "scripts and plugins are not supported"),
        ("plugin/", .warning, "scripts and plugins are not supported"),
        ("auth/", .warning, "this kind of authentication has no equivalent"),
        ("", .warning, "there is no equivalent"),
    ]

    /// Refuses an object with a key that changes its meaning, or that the table does not contain.
    func checkSupport(of object: DocumentNode) throws(Refusal) {
        for member in object.members where !member.isComment {
            let location = object.location(of: member.key)
            if let reason = refusal(of: member.key)
                ?? (keys[member.key] == nil ? "is not known" : nil)
            {
                throw Refusal("its '\(member.key)' \(reason)", at: location)
            }
        }
    }
}

extension ImportFindings {
    func reportLoss(of member: DocumentNode.Member, _ severity: Severity, _ reason: String) {
        add(severity, member.keyLocation, "'\(member.key)' is left out: \(reason)")
    }
}

extension DocumentNode.Member {
    var isComment: Bool { KrakenDTable.isComment(key) }
}

/// Conversions of single values.
extension YAMLTree {
    static func duration(_ node: DocumentNode) -> YAMLTree? { node.goDuration.map(duration) }

    static func bytes(_ node: DocumentNode) -> YAMLTree? {
        node.integer.flatMap { $0 > 0 ? .text(Quantity.spelled(bytes: $0)) : nil }
    }

    static func count(_ node: DocumentNode) -> YAMLTree? {
        node.integer.flatMap { $0 >= 0 ? .plain("\($0)") : nil }
    }

    static func name(_ node: DocumentNode) -> YAMLTree? { node.name.map(YAMLTree.text) }
}
