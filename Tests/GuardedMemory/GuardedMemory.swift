import Foundation

/// Memory between pages that cannot be read: a read outside of it ends the process.
public final class GuardedMemory {
    /// One page.
    public let bytes: UnsafeMutableRawBufferPointer
    private let all: UnsafeMutableRawPointer

    /// - Parameter byte: fills the memory
    public init?(filledWith byte: UInt8) {
        let page = sysconf(Int32(_SC_PAGESIZE))
        guard let all = mmap(nil, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            all != MAP_FAILED, mprotect(all + page, page, PROT_READ | PROT_WRITE) == 0
        else { return nil }
        self.all = all
        bytes = UnsafeMutableRawBufferPointer(start: all + page, count: page)
        memset(all + page, Int32(byte), page)
    }

    deinit { munmap(all, 3 * bytes.count) }

    /// The texts of this size at both ends of the memory.
    public func texts(of count: Int) -> [UnsafeMutableBufferPointer<UInt8>] {
        [bytes.startIndex, bytes.endIndex - count].map { first in
            UnsafeMutableRawBufferPointer(rebasing: bytes[first..<first + count])
                .bindMemory(to: UInt8.self)
        }
    }
}
