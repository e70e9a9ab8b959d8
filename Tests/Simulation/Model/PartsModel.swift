import Rehearsal

/// The model of a response that is sent part by part: which requests get it, and the document that its
/// records make. It is written from the documentation, without the gateway's code.
struct PartsModel {
    /// The members of the records with a value, in the order in which they arrived.
    private(set) var members: [Tree.Member] = []
    /// The names of the records with a failure.
    private(set) var failures: [String] = []
    private(set) var isComplete = false

    /// Nil for a body that does not consist of records with an end.
    init?(_ body: [UInt8]) {
        let text = String(decoding: body, as: UTF8.self)
        guard text.hasSuffix("\n") else { return nil }
        let lines = text.dropLast().split(separator: "\n", omittingEmptySubsequences: false)
        for line in lines.dropLast() {
            guard let record = Tree(reading: Array(line.utf8)), let name = record["part"]?.string
            else { return nil }
            if let value = record["value"] {
                members.append(Tree.Member(key: name, value: value))
            } else if record["failure"]?["kind"]?.string != nil {
                failures.append(name)
            } else {
                return nil
            }
        }
        guard let end = lines.last.flatMap({ Tree(reading: Array($0.utf8)) }),
            end["end"]?.plain == "true", let complete = end["complete"]?.plain
        else { return nil }
        isComplete = complete == "true"
    }

    /// Whether these records say what a document with these members says.
    ///
    /// - Parameter failed: the members whose only call failed
    func says(_ document: Tree, failed: [String]) -> Bool {
        let expected = document.members.filter { !failed.contains($0.key) }
        func sorted(_ members: [Tree.Member]) -> [Tree.Member] {
            members.sorted { $0.key < $1.key }
        }
        return sorted(members) == sorted(expected) && failures.sorted() == failed.sorted()
    }
}

extension ScriptedRequest {
    /// Whether it prefers parts to a document.
    var prefersParts: Bool {
        guard let accept = header("Accept") else { return false }
        return accept == "application/x-ndjson" || accept == "application/x-ndjson, */*;q=0.1"
    }
}

extension PeerMessage {
    /// Whether the response is sent part by part.
    var hasParts: Bool { self["Content-Type"] == "application/x-ndjson" }

    /// Whether no call failed; nil if the response has no parts of calls.
    var isComplete: Bool? {
        guard hasParts else { return self["Gateway-Complete"].map { $0 == "true" } }
        // The response to HEAD has no records.
        return PartsModel(body).map(\.isComplete) ?? (body.isEmpty ? true : nil)
    }
}
