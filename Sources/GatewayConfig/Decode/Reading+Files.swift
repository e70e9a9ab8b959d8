import Basics
import YAMLReader

extension Reading where Value == Config.File {
    /// The name of a file, which is read at once; found beside the file that names it.
    static var file: Reading {
        let name = Reading<String>.text(.file) { text throws(Refusal) in
            if text.isEmpty { throw Refusal("must not be empty") }
        }
        return Reading(schema: name.schema) { node, decoder in
            name.read(node, &decoder).flatMap { decoder.file(Placed($0, of: node)) }
        }
    }
}

extension ConfigDecoder {
    fileprivate mutating func file(_ name: Placed<String>) -> Config.File? {
        let quoted = FilePath.resolve(name.quoted, besides: name.place.file)
        let path = FilePath.resolve(name.value, besides: name.place.file)
        do {
            return Config.File(title: quoted, bytes: Bytes(try expansion.files.read(path)))
        } catch {
            fail(name.place, "cannot be read: \(error.words): '\(quoted)'")
            return nil
        }
    }
}
