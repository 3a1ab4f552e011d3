import { overloadGuard } from './guards.js'
import { type MakeSimulatedGuard, type OverloadScenario, runOverload, type SimRequest } from './world.js'

/** Runs a scenario with the guard of this package. Returns which share of some of its requests was denied. */
export function deniedShare(
  scenario: OverloadScenario,
  seed: number,
  isCounted: (request: SimRequest) => boolean,
): number {
  let [denied, started] = [0, 0]
  const makeGuard: MakeSimulatedGuard = (actions, random, process, of) => {
    const start = (request: SimRequest) => {
      if (isCounted(request)) started++
      actions.start(request)
    }
    const deny = (request: SimRequest) => {
      if (isCounted(request)) denied++
      actions.deny(request)
    }
    return overloadGuard({ start, deny }, random, process, of)
  }
  runOverload(scenario, makeGuard, seed)
  return denied / (denied + started)
}
