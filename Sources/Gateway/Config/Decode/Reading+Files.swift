import Basics
import YAMLReader

extension Reading where Value == Config.File {
    /// The name of a file, which is read at once; found beside the file that names it.
    static var file: Reading {
        let name = Reading<String>.text("file") { text throws(Refusal) in
            if text.isEmpty { throw Refusal("must not be empty") }
        }
        return Reading(schema: name.schema) { node, decoder in
            name.read(node, &decoder).flatMap { decoder.file($0, namedAt: node.place) }
        }
    }
}

extension ConfigDecoder {
    fileprivate mutating func file(_ name: String, namedAt place: Place) -> Config.File? {
        let path = FilePath.resolve(name, besides: place.file)
        do {
            return Config.File(path: path, bytes: Bytes(try expansion.files.read(path)))
        } catch {
            fail(place, "cannot be read: \(error.words)")
            return nil
        }
    }
}
