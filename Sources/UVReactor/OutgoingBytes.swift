import CUV

/// Bytes that gather, and those that the kernel did not take, in memory that stays where it is while
/// libuv sends.
final class OutgoingBytes {
    private var memory: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(capacity: Int) {
        memory = .allocate(byteCount: capacity, alignment: 1)
    }

    deinit { memory.deallocate() }

    /// Adds a copy. Not while libuv holds `buffer`.
    func append(_ bytes: Span<UInt8>) {
        reserve(count + bytes.count)
        bytes.withUnsafeBytes { source in
            UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: source)
        }
        count += bytes.count
    }

    /// Forgets the first `taken`, which have left. Not while libuv holds `buffer`.
    func removeFirst(_ taken: Int) {
        let taken = min(taken, count)
        let rest = UnsafeRawBufferPointer(rebasing: memory[taken..<count])
        memory.copyMemory(from: rest)
        count -= taken
    }

    func removeAll() { count = 0 }

    /// How much it holds without growing.
    var capacity: Int { memory.count }

    /// The bytes as libuv wants them.
    var buffer: uv_buf_t {
        uv_buf_t(base: memory.baseAddress?.assumingMemoryBound(to: CChar.self), len: count)
    }

    private func reserve(_ needed: Int) {
        guard needed > memory.count else { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(needed, 2 * memory.count), alignment: 1)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<count]))
        memory.deallocate()
        memory = larger
    }
}
