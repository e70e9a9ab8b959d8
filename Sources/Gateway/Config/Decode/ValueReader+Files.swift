import Basics
import YAMLReader

/// Files that keys name.
extension ValueReader where Value == Config.File {
    /// The name of a file, relative to the file that contains it; the file is read at once.
    static var file: ValueReader {
        let name = ValueReader<String>.text(.file) { text throws(Refusal) in
            if text.isEmpty { throw Refusal("must not be empty") }
        }
        return ValueReader(schema: name.schema) { node, decoder in
            name.read(node, &decoder).flatMap { decoder.file(Located($0, of: node)) }
        }
    }

    /// The same for a private key, which not every user should be able to read.
    static var privateKeyFile: ValueReader {
        let file = ValueReader.file
        return ValueReader(schema: file.schema) { node, decoder in
            let file = file.read(node, &decoder)
            if let file, decoder.isWorldReadable(file) {
                decoder.problems.warning(
                    at: node.location,
                    "\(file.title) is readable by all users; run: chmod o-r \(file.title)")
            }
            return file
        }
    }
}

extension ConfigDecoder {
    fileprivate func isWorldReadable(_ file: Config.File) -> Bool {
        expansion.files.isWorldReadable(file.path)
    }

    fileprivate mutating func file(_ name: Located<String>) -> Config.File? {
        let quoted = FilePath.resolve(name.quoted, relativeTo: name.location.file)
        let path = FilePath.resolve(name.value, relativeTo: name.location.file)
        do {
            return Config.File(
                title: quoted, path: path, bytes: Bytes(try expansion.files.read(path)))
        } catch {
            fail(name.location, "cannot be read: \(error.message): '\(quoted)'")
            return nil
        }
    }
}
