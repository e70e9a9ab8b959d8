import Testing

/// Calls of libuv functions that can fail go through the wrappers in `Sources/CUV/calls.h`, where a
/// test can make each of them fail.
@Suite struct FailingCallTests {
    /// Functions that return no error code.
    static let harmless: Set<String> = [
        "uv_available_parallelism", "uv_backend_timeout", "uv_buf_t", "uv_close", "uv_errno_t",
        "uv_freeaddrinfo", "uv_hrtime", "uv_loop_alive", "uv_mutex_destroy",
        "uv_mutex_lock", "uv_mutex_unlock", "uv_now", "uv_os_getpid", "uv_run", "uv_rusage_t",
        "uv_sleep", "uv_stop",
        "uv_stream_get_write_queue_size", "uv_thread_equal", "uv_thread_self", "uv_version_string",
        "uv_walk",
    ]

    @Test func failingCallsAreNotCalledDirectly() throws {
        var harmless = 0
        for file in try Sources.all() where file.code.contains(where: { $0.text == "import CUV" }) {
            for (number, line) in file.code where line.contains("uv_") {
                for call in line.matches(of: /(?<name>\w+)\(/) where call.name.hasPrefix("uv_") {
                    #expect(
                        Self.harmless.contains(String(call.name)),
                        "\(file):\(number): call tributary_\(call.name) instead")
                    harmless += 1
                }
            }
        }
        #expect(harmless > 10, "the search finds calls")
    }
}
