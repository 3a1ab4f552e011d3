import { type Costs, serviceMs, type Work } from './costs.js'

/** A server of a store. */
export type Node = ReturnType<typeof simulatedNode>

/** What is wrong with a node. */
export interface NodeFaults {
  /** How many times longer everything takes. Default 1. */
  readonly slowness?: number
  /** Requests that arrive in this time are never answered. */
  readonly lostFromMs?: number
  readonly lostUntilMs?: number
}

/** Creates a node: it serves one request after the other, in the order in which they arrive. */
export function simulatedNode(costs: Costs, faults: NodeFaults = {}) {
  const { slowness = 1, lostFromMs = 0, lostUntilMs = 0 } = faults
  const served = { requests: 0, calls: 0, busyMs: 0 }
  let freeAtMs = 0

  return {
    served,
    /** Returns when a request that arrives now has been served; `undefined` if it never will be. */
    serve(nowMs: number, work: Work): number | undefined {
      if (nowMs >= lostFromMs && nowMs < lostUntilMs) return undefined
      const tookMs = slowness * serviceMs(costs, work)
      freeAtMs = Math.max(nowMs, freeAtMs) + tookMs
      served.requests++
      served.calls += work.calls
      served.busyMs += tookMs
      return freeAtMs
    },
  }
}
