import Glibc

/// The memory of the program's file in this process.
enum ProgramPages {
    /// Takes code and constants out of the resident memory of this process. The kernel maps the pages
    /// that are used again, from the file in its cache, in a few microseconds each.
    ///
    /// Without effect where the system does not list the mappings of a process.
    static func release() {
        guard let program = path, let list = try? RegularFile.read(mappings, upTo: 1 << 20) else {
            return
        }
        for range in unwritten(of: program, in: list) {
            if let start = unsafe UnsafeMutableRawPointer(bitPattern: range.lowerBound) {
                unsafe madvise(start, range.count, MADV_DONTNEED)
            }
        }
    }

    private static let mappings = "/proc/self/smaps"

    private static var path: String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &bytes, bytes.count)
        guard count > 0 else { return nil }
        return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The mappings of a file that have no page which differs from the file: relocated constants,
    /// breakpoints and code without a file would be lost.
    ///
    /// - Parameter list: the text of `/proc/self/smaps` (proc_pid_smaps(5)): for each mapping a line that
    ///   begins with its address in hexadecimal digits, and some twenty that begin with a capital letter
    static func unwritten(of file: String, in list: [UInt8]) -> [Range<UInt>] {
        let name = Array(file.utf8)
        var ranges: [Range<UInt>] = []
        var current: Range<UInt>?
        for line in list.split(separator: UInt8(ascii: "\n")) {
            if line[line.startIndex] >= UInt8(ascii: "a")
                || line[line.startIndex] <= UInt8(ascii: "9")
            {
                current =
                    line.suffix(name.count).elementsEqual(name)
                    ? readOnlyMapping(of: file, String(decoding: line, as: UTF8.self)) : nil
            } else if let range = current, line.starts(with: "Anonymous:".utf8) {
                let isUnwritten = String(decoding: line, as: UTF8.self).hasSuffix(" 0 kB")
                if isUnwritten { ranges.append(range) }
                current = nil
            }
        }
        return ranges
    }

    /// `00200000-0027e000 r--p 00000000 fe:00 162 /usr/bin/tributary`
    private static func readOnlyMapping(of file: String, _ line: String) -> Range<UInt>? {
        let words = line.split(separator: " ", maxSplits: 5)
        let bounds = words.first?.split(separator: "-").compactMap { UInt($0, radix: 16) } ?? []
        guard words.count == 6, bounds.count == 2, bounds[0] < bounds[1],
            words[1].hasSuffix("p"), !words[1].contains("w"),
            words[5].drop(while: { $0 == " " }) == file
        else { return nil }
        return bounds[0]..<bounds[1]
    }
}
