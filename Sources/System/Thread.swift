import CUV
import Glibc

/// A thread of the operating system that runs one closure and ends with it.
package struct Thread {
    private let id: pthread_t

    /// Starts a thread. The closure runs on it, so it may capture only `Sendable` values.
    ///
    /// - Parameter name: as the kernel shows it, of which it keeps 15 characters
    /// - Returns: nil if the system cannot create another thread
    package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> Thread? {
        let work = Unmanaged.passRetained(
            Work {
                ThreadName.set(name)
                body()
            })
        var id = pthread_t()
        let code = pthread_create(
            &id, nil,
            { raw in
                guard let raw else { return nil }
                Unmanaged<Work>.fromOpaque(raw).takeRetainedValue().body()
                return nil
            }, work.toOpaque())
        guard code == 0 else {
            work.release()
            return nil
        }
        return Thread(id: id)
    }

    /// Waits for its end.
    package func join() {
        pthread_join(id, nil)
    }

    /// Gives up waiting for its end: the system frees its memory when it ends. Not to be followed by
    /// `join`.
    package func detach() {
        pthread_detach(id)
    }

    private final class Work: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }
    }
}
