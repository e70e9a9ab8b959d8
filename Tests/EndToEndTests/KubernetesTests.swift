import Foundation
import Testing

extension EndToEnd {
    /// The recipe for Kubernetes in `docs/guide/cookbook`: variables, probes, drain.
    @Suite struct KubernetesTests {
        @Test func podTakesVariablesRespondsToProbesAndDrains() throws {
            let recipe = URL(filePath: #filePath)
                .appending(path: "../../../docs/guide/cookbook/kubernetes.yaml").standardized
            let backend = try Backend()
            let daemon = try Daemon(
                ["serve", recipe.path],
                environment: [
                    "LISTEN": "127.0.0.1:0", "ADMIN": "127.0.0.1:0", "WORKERS": "1",
                    "ADMIN_TOKEN": "0123456789abcdef", "DRAIN_DELAY": "1m",
                    "CATALOG_URL": backend.url, "STOCK_URL": backend.url,
                ])
            try daemon.awaitListening()
            let response = try daemon.request("GET /products/42")
            #expect(
                response.body
                    == #"{"product":{"asked":"/items/42"},"stock":{"asked":"/levels/42"}}"#)
            #expect(try daemon.requestAdmin("GET /readyz").status == 200)
            #expect(try daemon.requestAdmin("GET /metrics").status == 401)

            daemon.signal(SIGTERM)
            try daemon.logLine("draining")
            #expect(try daemon.requestAdmin("GET /readyz").status == 503)
            #expect(try daemon.requestAdmin("GET /livez").status == 200)
            #expect(try daemon.request("GET /products/42").status == 200)
            daemon.signal(SIGTERM)
            #expect(try daemon.exitStatus() == 0)
        }
    }
}
