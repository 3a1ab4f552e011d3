import type { Policy } from '../../../../src/policies/policy.js'
import { createLane, type Lane, SPAN_MS } from './lane.js'
import { createTraffic, type Traffic } from './traffic.js'

const SAMPLE_EVERY_MS = 100

/** The same traffic under several policies, on a clock that goes on only when it is told to. */
export interface Simulation extends Pick<Traffic, 'burst' | 'stream'> {
  readonly lanes: readonly Lane[]
  /** Sends what is due until then, each request at its time. */
  advance(toMs: number): void
  /** Whether nothing changes until another request: the strips are empty, and no request is to come. */
  isIdle(): boolean
}

export function createSimulation(policies: readonly Policy[], startMs: number): Simulation {
  const lanes = policies.map(createLane)
  const { burst, stream, hasMore, takeDue } = createTraffic()
  let sampledMs = startMs

  function sampleUntil(toMs: number): void {
    for (; sampledMs < toMs; sampledMs += SAMPLE_EVERY_MS) for (const lane of lanes) lane.sample(sampledMs)
  }

  return {
    lanes,
    burst,
    stream,

    advance(toMs) {
      for (const atMs of takeDue(toMs)) {
        sampleUntil(atMs)
        for (const lane of lanes) lane.send(atMs)
      }
      sampleUntil(toMs)
    },

    isIdle: () =>
      !hasMore() && lanes.every(({ marks }) => !marks.some(({ atMs }) => atMs > sampledMs - SPAN_MS)),
  }
}
