import Basics
import HTTP
import JSONText

/// The claims of an assumed caller: the stated ones, and for others that calls use, a text with the
/// name of the claim.
struct AssumedClaims {
    let subject: String
    let stated: Bytes?
    /// The paths of the claims that the calls of the endpoint use.
    let used: [JSONPath]

    var json: Bytes {
        var members: [String] = []
        if !isStated(Bytes("sub")) {
            members.append("\"sub\": \(String(jsonQuoting: subject))")
        }
        var names: [Bytes] = [Bytes("sub")]
        for case .key(let name)? in used.map(\.steps.first)
        where !names.contains(name) && !isStated(name) {
            names.append(name)
            let rests = used.map { $0.steps[...] }.filter { Self.begins($0, with: name) }
            members.append(
                "\(Self.quoted(name)): \(Self.value(of: rests.map { $0.dropFirst() }, name))")
        }
        return Bytes("{\((members + statedMembers).joined(separator: ", "))}")
    }

    private var statedMembers: [String] {
        guard let stated, let object = try? JSONSlice(validating: stated) else { return [] }
        let inside = String(object.bytes).dropFirst().dropLast()
        return inside.allSatisfy(\.isWhitespace) ? [] : [String(inside)]
    }

    private func isStated(_ name: Bytes) -> Bool {
        guard let stated, let object = try? JSONSlice(validating: stated) else { return false }
        return object.value(at: JSONPath(steps: [.key(name)])) != nil
    }

    private typealias Steps = ArraySlice<JSONPath.Step>

    /// Elements of a list that the configuration names with a larger index have no value.
    private static let elementsMax = 100

    /// A value that has a text at the end of each of these paths. The recursion is as deep as the
    /// longest path of the configuration.
    private static func value(of paths: [Steps], _ name: Bytes) -> String {
        let paths = paths.filter { !$0.isEmpty }
        switch paths.first?.first {
        case nil, .everyElement: return quoted(name)
        case .key:
            var names: [Bytes] = []
            for case .key(let name)? in paths.map(\.first) where !names.contains(name) {
                names.append(name)
            }
            let members = names.map { name in
                let rests = paths.filter { begins($0, with: name) }.map { $0.dropFirst() }
                return "\(quoted(name)): \(value(of: rests, name))"
            }
            return "{\(members.joined(separator: ", "))}"
        case .element:
            let indices = paths.compactMap { path in
                if case .element(let index)? = path.first { index } else { nil }
            }
            let count = min((indices.max() ?? 0), elementsMax - 1) + 1
            let elements = (0..<count).map { index in
                let rests = paths.filter { path in
                    if case .element(index)? = path.first { true } else { false }
                }
                return value(of: rests.map { $0.dropFirst() }, name)
            }
            return "[\(elements.joined(separator: ", "))]"
        }
    }

    private static func begins(_ path: Steps, with name: Bytes) -> Bool {
        if case .key(name)? = path.first { true } else { false }
    }

    private static func quoted(_ name: Bytes) -> String { String(jsonQuoting: String(name)) }
}
