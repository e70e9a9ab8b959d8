import HTTP

/// Both directions of a connection that has switched to another protocol, each in a pipe. Confined to
/// its worker.
final class ProxyTunnel: Tunnel {
    private let tunnel: any Tunnel
    /// What the backend sends.
    private let download: ProxyPipe
    private let transfer: ProxyTransfer

    init(_ tunnel: any Tunnel, _ download: ProxyPipe, _ transfer: ProxyTransfer) {
        self.tunnel = tunnel
        self.download = download
        self.transfer = transfer
    }

    var framing: BodyFraming { .untilClose }

    var protocolName: FieldValue { tunnel.protocolName }

    func startDelivery(to sink: any BodySink) { download.startDelivery(to: sink) }

    func pause() { download.pause() }

    func resume() { download.resume() }

    func cancel() { download.cancel() }

    func send(from source: any BodySource) {
        let upload = ProxyPipe(source, .request)
        upload.transfer = transfer
        transfer.webSocket?.uploadPipe = upload
        tunnel.send(from: upload)
    }
}
