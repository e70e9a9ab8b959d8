#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A system thread that runs one closure and ends. No thread joins it.
enum DetachedThread {
    /// Starts a thread; false if the system cannot start one more, and the closure is dropped.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let work = unsafe Unmanaged.passRetained(Body(body))
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        unsafe pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        defer { unsafe pthread_attr_destroy(&attributes) }
        #if canImport(Darwin)
            var id: pthread_t?
            let code = unsafe pthread_create(
                &id, &attributes,
                { raw in
                    unsafe Unmanaged<Body>.fromOpaque(raw).takeRetainedValue().run()
                    return nil
                }, work.toOpaque())
        #else
            var id = pthread_t()
            let code = unsafe pthread_create(
                &id, &attributes,
                { raw in
                    if let raw = unsafe raw {
                        unsafe Unmanaged<Body>.fromOpaque(raw).takeRetainedValue().run()
                    }
                    return nil
                }, work.toOpaque())
        #endif
        if code != 0 { unsafe work.release() }
        return code == 0
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }
}
