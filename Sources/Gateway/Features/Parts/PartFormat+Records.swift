import Basics

extension PartFormat {
    /// Appends a record that the closure writes. Line breaks between the tokens of a value become spaces, so
    /// that a record is one line.
    func append(to records: inout [UInt8], _ write: (inout [UInt8]) -> Void) {
        if self == .sse { records.append(literal: "data: ") }
        let start = records.count
        write(&records)
        for index in start..<records.count
        where records[index] == UInt8(ascii: "\n") || records[index] == UInt8(ascii: "\r") {
            records[index] = UInt8(ascii: " ")
        }
        records.append(literal: self == .sse ? "\n\n" : "\n")
    }
}
