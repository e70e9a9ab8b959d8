/// The rules for `paths`: routes that servers could read as other ones.
extension ConfigCheck {
    /// Says once for each route what the default decides.
    mutating func checkPaths() {
        guard wasRead else { return }
        for (endpoint, bypassed) in zip(config.endpoints, config.bypassedEndpoints) {
            guard let first = bypassed.first, let route = endpoint.route,
                config.paths(of: endpoint) == nil
            else { continue }
            let other = config.endpoints[first]
            let more = bypassed.count == 1 ? "" : " and \(bypassed.count - 1) more"
            problems.warning(
                at: route.location,
                "\(endpoint.title) could bypass \(other.title)\(more), which has other 'auth',"
                    + " 'clients' or limits: a server may read //, %2F, ; or other spellings as that"
                    + " route, so such paths get 400; write 'paths: strict', or 'paths: lenient' to"
                    + " accept them")
        }
    }
}
