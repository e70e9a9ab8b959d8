import Basics
import HTTP
import JSONText

extension JSONSlice {
    /// The value of a member of an object whose names are unique.
    func member(named name: Bytes) -> JSONSlice? {
        members.first { $0.key.means(name) }?.value
    }

    /// The text of a member that is a string.
    func text(of name: Bytes) -> Bytes? {
        member(named: name).flatMap { $0.kind == .string ? $0.text : nil }
    }
}
