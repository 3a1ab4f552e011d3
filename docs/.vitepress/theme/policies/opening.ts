import { SPAN_MS } from './lane.js'
import { SHOWN } from './shown.js'
import { createSimulation, type Simulation } from './simulation.js'

/** A moment 2.2 s after windows of the clock end. Any would do: the page has its own clock. */
const OPENING_MS = 1_780_000_002_200

/**
 * Returns a simulation in which some traffic has just passed: ten requests shortly before a window of the
 * clock ends, ten right after, and a stream. It is the same wherever it runs, so that the server renders what
 * the browser then continues.
 */
export function openingSimulation(): { readonly simulation: Simulation; readonly nowMs: number } {
  const simulation = createSimulation(
    SHOWN.map(({ policy }) => policy),
    OPENING_MS - SPAN_MS,
  )
  const go = (beforeMs: number) => simulation.advance(OPENING_MS - beforeMs)
  const at = (beforeMs: number) => OPENING_MS - beforeMs
  simulation.burst(10, at(12_900))
  simulation.burst(10, at(11_900))
  go(8_000)
  simulation.stream(2, at(8_000))
  go(4_000)
  simulation.stream(0, at(4_000))
  simulation.burst(10, at(1_800))
  go(0)
  return { simulation, nowMs: OPENING_MS }
}
