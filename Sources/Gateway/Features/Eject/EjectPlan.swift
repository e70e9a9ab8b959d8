/// `eject:`
struct EjectPlan: Equatable {
    /// Failures in a row.
    let after: Int
    /// Of the first ejection; later ones are longer.
    let duration: Duration
}

extension EjectPlan {
    init(_ keys: Config.Backend.Eject) {
        self.init(
            after: keys.after?.value ?? PlanDefaults.ejectAfter,
            duration: keys.duration?.value ?? PlanDefaults.ejectFor)
    }
}
