import Testing

@testable import Promises

/// A settled promise holds nothing that it waited for.
@Suite(.timeLimit(.minutes(5))) struct ReleasedParentTests {
    let context = ManualContext()

    @Test(arguments: ["delayed", "ensure", "atLeast", "timeout", "then"])
    func aSettledPromiseHoldsNoParent(_ name: String) {
        let source = Promise.value(1, on: context)
        let promise =
            switch name {
            case "delayed": source.delayed(by: .seconds(1))
            case "ensure": source.ensure(waiting: { [context] in after(.seconds(1), on: context) })
            case "atLeast": source.atLeast(.seconds(1))
            case "timeout": source.timeout(.seconds(1))
            default:
                source.then { [context] _ in after(.seconds(1), on: context).promise.map { 1 } }
            }
        context.drain()
        context.advance(by: .seconds(2))
        #expect(promise.value == 1)
        #expect(promise.node.takeParent() == nil)
    }

    @Test(arguments: ["delayed", "ensure"])
    func aSettledLocalPromiseHoldsNoParent(_ name: String) {
        LocalContext.run(on: context) { local in
            let source = local.value(1)
            let promise =
                name == "delayed"
                ? source.delayed(by: .seconds(1))
                : source.ensure(waiting: { local.after(.seconds(1)) })
            context.drain()
            context.advance(by: .seconds(2))
            #expect(promise.value == 1)
            #expect(promise.node.takeParent() == nil)
        }
    }
}
