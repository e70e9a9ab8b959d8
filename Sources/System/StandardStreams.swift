import Basics
import CUV
import Glibc
import Promises

/// Complete writes to the standard streams; write errors are ignored.
package enum StandardStreams {
    /// Writes the output of a command.
    package static func printOut(_ text: String) { write(Array(text.utf8), to: STDOUT_FILENO) }

    /// Writes an error message.
    package static func printError(_ text: String) { write(Array(text.utf8), to: STDERR_FILENO) }

    /// Writes the last error of a process that ends. Waits for a bounded time only, so that a full
    /// pipe without a reader does not keep the process alive.
    ///
    /// The write runs on its own thread, because it may block even after `poll` reported space:
    /// other processes can share the pipe. The caller ends the process, and the thread with it.
    package static func printLastError(_ text: String) {
        let isWritten = Gate()
        let thread = Thread.start("last-error") {
            printError(text)
            isWritten.open()
        }
        // Without a thread the error is lost: the exit status still reports it.
        guard let thread else { return }
        thread.detach()
        isWritten.wait(atMost: lastErrorLimit)
    }

    private static let lastErrorLimit = Duration.seconds(1)

    /// Opens `/dev/null` in the place of each stream that is closed.
    ///
    /// Called before any other descriptor is opened: the next socket would get the free number, the
    /// log would be written into it, and libuv aborts the process when it closes a descriptor below
    /// 3.
    package static func openClosed() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest number that is free is this one.
            _ = open("/dev/null", O_RDWR)
        }
    }

    /// Writes all bytes, in as many calls as needed, and waits while the stream is full. Returns
    /// the number of bytes written: all, or fewer after an error.
    @discardableResult
    package static func write(_ bytes: [UInt8], to descriptor: CInt) -> Int {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let count = Glibc.write(
                    descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0 {
                    if errno == EINTR { continue }
                    if errno == EAGAIN {
                        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                        _ = poll(&wait, 1, -1)
                        continue
                    }
                    break
                }
                rest = rest.dropFirst(count)
            }
            return buffer.count - rest.count
        }
    }
}
