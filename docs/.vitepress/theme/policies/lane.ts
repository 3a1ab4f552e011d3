import type { Policy } from '../../../../src/policies/policy.js'
import { createClient, type Reading } from './client.js'

/** The time that a strip shows. */
export const SPAN_MS = 20_000

/** A request. */
export interface Mark {
  readonly atMs: number
  readonly isAllowed: boolean
}

/** The level at a moment. */
export type Sample = readonly [atMs: number, level: number]

/** A client of a policy, with what it did in the last seconds. */
export interface Lane {
  readonly marks: readonly Mark[]
  readonly samples: readonly Sample[]
  send(atMs: number): void
  /** Records the level, and forgets what is older than the strip. */
  sample(atMs: number): void
  read(nowMs: number): Reading
}

export function createLane(policy: Policy): Lane {
  const client = createClient(policy)
  const marks: Mark[] = []
  const samples: Sample[] = []
  const addSample = (atMs: number) => samples.push([atMs, client.read(atMs).level])
  return {
    marks,
    samples,
    read: client.read,

    send(atMs) {
      addSample(atMs)
      marks.push({ atMs, isAllowed: client.send(atMs) })
      addSample(atMs)
    },

    sample(atMs) {
      addSample(atMs)
      const fromMs = atMs - SPAN_MS
      marks.splice(0, marks.filter((mark) => mark.atMs < fromMs - 1000).length)
      samples.splice(0, Math.max(0, samples.filter(([ms]) => ms < fromMs).length - 1))
    },
  }
}
