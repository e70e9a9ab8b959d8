import CUV
import Promises
import Reactor

/// An attempt to connect: it holds the handle until there is a stream to give it to.
final class UVConnect: HandleOwner {
    private let loop: UVLoop
    private var handle: Handle<uv_stream_t>?
    private var resolver: LocalResolver<any ByteStream>?

    /// Begins. The promise is cancelled or rejected, or its stream is the caller's.
    static func begin(to address: SocketAddress, on loop: UVLoop) -> LocalPromise<any ByteStream> {
        let resolver = LocalResolver<any ByteStream>(on: loop.local)
        let promise = resolver.promise
        let attempt = UVConnect(resolver, on: loop)
        do throws(IOFailure) {
            try attempt.open(address)
            try attempt.start(address)
        } catch {
            attempt.fail(error)
        }
        return promise
    }

    private init(_ resolver: consuming LocalResolver<any ByteStream>, on loop: UVLoop) {
        self.loop = loop
        super.init()
        resolver.onCancel { [self] _ in giveUp() }
        self.resolver = consume resolver
    }

    private func open(_ address: SocketAddress) throws(IOFailure) {
        let loop = loop.raw
        switch address {
        case .ip(let host, _):
            // With its socket, so that its number is known before anything is sent.
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

    private func start(_ address: SocketAddress) throws(IOFailure) {
        guard let raw = handle?.raw else { return }
        let code = try address.withSystemAddress { system, _ in
            Request<uv_connect_t, UVConnect>.start(self) { request in
                switch address {
                case .ip:
                    return tributary_uv_tcp_connect(
                        request, raw.cast(to: uv_tcp_t.self), system, UVConnect.called)
                case .unix(let path):
                    return tributary_uv_pipe_connect(
                        request, raw.cast(to: uv_pipe_t.self), path, UVConnect.called)
                }
            }
        }
        try checked(code)
        // libuv makes the socket of a pipe when it connects.
        if case .unix = address, let raw = handle?.raw {
            try checkCeiling(raw.cast(to: uv_handle_t.self))
        }
    }

    /// Refuses a socket whose number is kept free for others.
    private func checkCeiling(_ handle: UnsafeMutablePointer<uv_handle_t>) throws(IOFailure) {
        let number = tributary_descriptor_number(handle)
        // libuv got no socket for a pipe; the callback says why.
        if number == UV_EBADF.rawValue { return }
        try checked(number)
        if Int(number) >= loop.descriptors.connectCeiling { throw .outOfDescriptors }
    }

    private static let called: uv_connect_cb = { request, status in
        Request<uv_connect_t, UVConnect>.finish(request)?.ended(status)
    }

    private func ended(_ status: CInt) {
        if status < 0 {
            // A socket file that is not there: nobody listens.
            fail(status == UV_ENOENT.rawValue ? .connectionRefused : IOFailure(uv: status))
        } else if let resolver = resolver.take(), let handle = handle.take() {
            resolver.fulfill(UVStream(handle, on: loop))
        }
        loop.finishCallback()
    }

    private func fail(_ failure: IOFailure) {
        handle = nil
        if failure == .outOfDescriptors { loop.descriptors.reportShortage(.connect) }
        resolver.take()?.reject(failure)
    }

    /// Closing the handle calls the request back, which finds nobody to tell.
    private func giveUp() {
        handle = nil
        _ = resolver.take()
    }

    override func abandon() { fail(.cancelled) }
}
