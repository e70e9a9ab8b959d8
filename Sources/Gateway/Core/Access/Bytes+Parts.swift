import Basics

extension Bytes {
    /// The parts between the separators; at least one, which may be empty.
    func parts(separatedBy separator: UInt8) -> [Bytes] {
        var parts: [Bytes] = []
        var start = 0
        for index in 0...count where index == count || self[index] == separator {
            parts.append(self[start..<index])
            start = index + 1
        }
        return parts
    }
}
