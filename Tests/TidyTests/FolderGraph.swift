/// Which folders of one target use types of which others, by the names of the types.
///
/// A type counts if it is declared at the top level of a file and is visible to other files. A name
/// after a dot is a member and does not count. A nested type or a generic parameter with the name
/// of a top-level type counts as a use of that type, because only a compiler can distinguish them:
/// so no use is missed, but such a name is reported as well.
struct FolderGraph {
    /// One file that uses a type of another folder.
    struct Use {
        let file: String
        let type: String
        let declaredIn: String
    }

    /// The uses by the using folder and the used one.
    private(set) var uses: [String: [String: [Use]]] = [:]

    /// - Parameter hidden: names that a file means otherwise: types that are nested in one of its own
    init(_ files: [Sources.File], hidden: (Sources.File) -> Set<String> = { _ in [] }) {
        var declared: [String: [Sources.File]] = [:]
        for file in files {
            for type in file.topLevelTypes where !type.isPrivate {
                declared[type.name, default: []].append(file)
            }
        }
        for file in files {
            let own = Set(file.topLevelTypes.map(\.name))
            let names = SourceText.identifiers(in: file.bareCode).subtracting(own)
            for name in names.subtracting(hidden(file)).sorted() {
                for source in declared[name] ?? [] where source.folder != file.folder {
                    uses[file.folder, default: [:]][source.folder, default: []].append(
                        Use(file: file.path, type: name, declaredIn: source.path))
                }
            }
        }
    }

    /// One line for each folder that a folder uses although it uses that folder itself, directly or
    /// through others.
    var cycles: [String] {
        var lines: [String] = []
        for (user, used) in uses.sorted(by: { $0.key < $1.key }) {
            for (folder, uses) in used.sorted(by: { $0.key < $1.key })
            where reachable(from: folder).contains(user) {
                let examples = uses.prefix(3).map { "\($0.file) uses \($0.type)" }
                lines.append("\(user) -> \(folder): \(examples.joined(separator: ", "))")
            }
        }
        return lines
    }

    private func reachable(from start: String) -> Set<String> {
        var seen: Set<String> = []
        var open = [start]
        while let folder = open.popLast() {
            for next in uses[folder, default: [:]].keys where seen.insert(next).inserted {
                open.append(next)
            }
        }
        return seen
    }
}

extension Sources.File {
    /// The path of its folder in the target; empty for a file at the target's root.
    var folder: String {
        path.split(separator: "/").dropFirst(2).dropLast().joined(separator: "/")
    }
}
