import CUV

/// Buffered and unsent bytes, in memory that does not move while libuv sends them.
final class OutgoingBytes {
    private var memory: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(capacity: Int) {
        memory = .allocate(byteCount: capacity, alignment: 1)
    }

    deinit { memory.deallocate() }

    /// Appends a copy. Not while libuv uses `buffer`.
    func append(_ bytes: Span<UInt8>) {
        reserve(count + bytes.count)
        bytes.withUnsafeBytes { source in
            UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: source)
        }
        count += bytes.count
    }

    /// Appends a copy of both. Not while libuv uses `buffer`.
    func append(_ head: Span<UInt8>, _ body: Span<UInt8>) {
        append(head)
        append(body)
    }

    /// Removes the first `taken` bytes, which were sent. Not while libuv uses `buffer`.
    func removeFirst(_ taken: Int) {
        let taken = min(taken, count)
        let rest = UnsafeRawBufferPointer(rebasing: memory[taken..<count])
        memory.copyMemory(from: rest)
        count -= taken
    }

    func removeAll() { count = 0 }

    /// The size that it can hold without growing.
    var capacity: Int { memory.count }

    /// The bytes as libuv's buffer type.
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
