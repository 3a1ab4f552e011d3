import { afterTurn } from './defer.js'

/**
 * Long work in small steps. Each `yield` is a place where it may pause, so that it need not block the event
 * loop.
 */
export type Steps<Result> = Generator<undefined, Result, undefined>

/** The longest time for which sliced work keeps the event loop from other work, give or take a step. */
const SLICE_MS = 4

/** How slices are timed and deferred. */
export interface SliceTimer {
  now(): number
  /** Calls `resume` in a later turn of the event loop, or at once on platforms that have no turns. */
  defer(resume: () => void): unknown
}

const EVENT_LOOP: SliceTimer = { now: () => performance.now(), defer: afterTurn }

/** Does all steps at once, and returns their result. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  let step = steps.next()
  while (!step.done) step = steps.next()
  return step.value
}

/**
 * Does steps in slices of some milliseconds, with other work of the event loop between them. The first slice
 * runs at once. Rejects with what a step throws.
 */
export async function inSlices<Result>(
  steps: Steps<Result>,
  { now, defer }: SliceTimer = EVENT_LOOP,
): Promise<Result> {
  for (let startedAtMs = now(); ; ) {
    const step = steps.next()
    if (step.done) return step.value
    if (now() - startedAtMs < SLICE_MS) continue
    await new Promise<void>((resolve) => defer(resolve))
    startedAtMs = now()
  }
}
