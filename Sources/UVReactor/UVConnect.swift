import CUV
import Promises
import Reactor

/// A connection attempt: owns the handle until it becomes a stream.
final class UVConnect: HandleOwner {
    private let loop: UVLoop
    private let address: SocketAddress
    private var handle: Handle<uv_stream_t>?
    private var resolver: LocalResolver<any ByteStream>?

    /// Starts an attempt. The caller owns the stream that the promise delivers.
    static func connect(to address: SocketAddress, on loop: UVLoop) -> LocalPromise<any ByteStream>
    {
        let resolver = LocalResolver<any ByteStream>(on: loop.local)
        let promise = resolver.promise
        let attempt = UVConnect(to: address, resolver, on: loop)
        do throws(IOFailure) {
            try attempt.openSocket()
            try attempt.startConnecting()
        } catch {
            attempt.fail(error)
        }
        return promise
    }

    private init(
        to address: SocketAddress, _ resolver: consuming LocalResolver<any ByteStream>,
        on loop: UVLoop
    ) {
        self.loop = loop
        self.address = address
        super.init()
        resolver.onCancel { [self] _ in cancel() }
        self.resolver = consume resolver
    }

    private func openSocket() throws(IOFailure) {
        let loop = loop.raw
        switch address {
        case .ip(let host, _):
            // Creates the socket too, so that its number is known before anything is sent.
            let family = UInt32(host.systemFamily)
            let tcp = try Handle<uv_tcp_t> { tcp in tributary_uv_tcp_init_ex(loop, tcp, family) }
            try checkCeiling(tcp.raw.cast(to: uv_handle_t.self))
            try checked(tributary_uv_tcp_nodelay(tcp.raw))
            handle = tcp.upcast(to: uv_stream_t.self)
        case .unix:
            let pipe = try Handle<uv_pipe_t> { pipe in tributary_uv_pipe_init(loop, pipe) }
            handle = pipe.upcast(to: uv_stream_t.self)
        }
        handle?.setOwner(self)
    }

    private func startConnecting() throws(IOFailure) {
        guard let raw = handle?.raw else { return }
        let code = try address.withSystemAddress { system, _ in
            UVRequest<uv_connect_t, UVConnect>.submit(self) { request in
                switch address {
                case .ip:
                    return tributary_uv_tcp_connect(
                        request, raw.cast(to: uv_tcp_t.self), system, UVConnect.callback)
                case .unix(let path):
                    return tributary_uv_pipe_connect(
                        request, raw.cast(to: uv_pipe_t.self), path, UVConnect.callback)
                }
            }
        }
        try checked(code)
        // libuv creates the socket of a pipe when it connects.
        if case .unix = address, let raw = handle?.raw {
            try checkCeiling(raw.cast(to: uv_handle_t.self))
        }
    }

    /// Rejects a socket whose number is reserved for other uses.
    private func checkCeiling(_ handle: UnsafeMutablePointer<uv_handle_t>) throws(IOFailure) {
        let number = tributary_descriptor_number(handle)
        // libuv has no socket for a pipe yet; the callback reports the reason.
        if number == UV_EBADF.rawValue { return }
        try checked(number)
        if Int(number) >= loop.descriptors.connectCeiling { throw .outOfDescriptors }
    }

    private static let callback: uv_connect_cb = { request, status in
        UVRequest<uv_connect_t, UVConnect>.finish(request)?.connectEnded(status)
    }

    private func connectEnded(_ status: CInt) {
        loop.beginCallback()
        if status < 0 {
            // A missing socket file means that no process listens.
            fail(status == UV_ENOENT.rawValue ? .connectionRefused : IOFailure(uv: status))
        } else if let resolver = resolver.take(), let handle = handle.take() {
            resolver.fulfill(UVStream(handle, on: loop, peer: peer))
        }
        loop.finishCallback()
    }

    /// The address that was connected to; of a unix socket without its path, as for the other end.
    private var peer: SocketAddress {
        if case .ip = address { address.unmapped } else { .unnamedUnix }
    }

    private func fail(_ failure: IOFailure) {
        handle = nil
        if failure == .outOfDescriptors { loop.descriptors.reportShortage(.connect) }
        resolver.take()?.reject(failure)
    }

    /// Closing the handle calls the request back, which finds no resolver.
    private func cancel() {
        handle = nil
        _ = resolver.take()
    }

    override func abandon() { fail(.cancelled) }
}
