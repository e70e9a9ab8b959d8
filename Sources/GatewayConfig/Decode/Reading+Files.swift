import Basics
import YAMLReader

extension Reading where Value == Config.File {
    /// The name of a file, which is read at once; found beside the file that names it.
    static var file: Reading {
        let name = Reading<String>.text(.file) { text throws(Refusal) in
            if text.isEmpty { throw Refusal("must not be empty") }
        }
        return Reading(schema: name.schema) { node, decoder in
            name.read(node, &decoder).flatMap { decoder.file(Located($0, of: node)) }
        }
    }
}

extension ConfigDecoder {
    fileprivate mutating func file(_ name: Located<String>) -> Config.File? {
        let quoted = FilePath.resolve(name.quoted, besides: name.location.file)
        let path = FilePath.resolve(name.value, besides: name.location.file)
        do {
            return Config.File(title: quoted, bytes: Bytes(try expansion.files.read(path)))
        } catch {
            fail(name.location, "cannot be read: \(error.words): '\(quoted)'")
            return nil
        }
    }
}
