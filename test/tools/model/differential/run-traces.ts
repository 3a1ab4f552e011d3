import { type Lane, type Outcome, play, type Rules } from './player.js'
import { shrink } from './shrink.js'
import { type Trace, type TraceOptions, traceFrom } from './trace.js'

/** A kind of traces for a store. */
export interface Course {
  readonly name: string
  readonly rules: Rules
  readonly traces: TraceOptions
}

/** How much is run. */
export interface Amount {
  readonly seed: number
  /** The number of traces, or until a time is over, whichever comes first. */
  readonly traces: number
  readonly untilMs: number
  /** Traces that run at once. */
  readonly lanes: number
}

/** A trace on which a store differs from the model. */
export interface Difference {
  readonly seed: number
  readonly course: string
  readonly what: string
  readonly trace: Trace
}

/** What came of all traces on a store. */
export interface Tally {
  traces: number
  steps: number
  readonly differences: Difference[]
}

const MAX_DIFFERENCES = 3

/** Plays random traces on a store; `openLane` returns a store that no other trace uses meanwhile. */
export async function runTraces(
  courses: readonly Course[],
  openLane: () => Promise<Lane> | Lane,
  { seed, traces, untilMs, lanes }: Amount,
): Promise<Tally> {
  const tally: Tally = { traces: 0, steps: 0, differences: [] }
  let started = 0

  async function work(): Promise<void> {
    while (started < traces && Date.now() < untilMs && tally.differences.length < MAX_DIFFERENCES) {
      const own = seed + started++
      const course = courses[own % courses.length] as Course
      const trace = traceFrom(own, course.traces)
      const outcome = await playOn(trace, openLane, course.rules)
      tally.traces++
      tally.steps += outcome.operations
      if (outcome.difference !== undefined) tally.differences.push(await explain(trace, course, outcome))
    }
  }

  /** Shrinks the trace, and plays it once more for its own difference. */
  async function explain(trace: Trace, course: Course, { difference }: Outcome): Promise<Difference> {
    const { rules, name } = course
    const fails = async (each: Trace) => (await playOn(each, openLane, rules)).difference !== undefined
    const upTo = { ...trace, steps: trace.steps.slice(0, (difference?.step ?? 0) + 1) }
    const shortest = await shrink(upTo, fails)
    const last = await playOn(shortest, openLane, rules)
    const what = last.difference?.what ?? `${difference?.what} (not on every run)`
    return { seed: trace.seed, course: name, what, trace: shortest }
  }

  await Promise.all(Array.from({ length: lanes }, work))
  return tally
}

async function playOn(trace: Trace, openLane: () => Promise<Lane> | Lane, rules: Rules): Promise<Outcome> {
  return play(trace, await openLane(), rules)
}

/** Returns a difference as text: its seed, the figure, and the shortest trace. */
export function describe({ seed, course, what, trace }: Difference): string {
  const policies = trace.policies.map(({ spec }) => JSON.stringify(spec))
  const steps = trace.steps.map((step) => JSON.stringify(step))
  return [`  seed ${seed} (${course}): ${what}`, ...policies, ...steps].join('\n    ')
}
