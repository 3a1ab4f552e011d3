import type { Step, Trace } from './trace.js'

/** The most shorter traces that are tried, and for how long: traces with a real clock take a while. */
const MAX_ATTEMPTS = 400
const MAX_MS = 20_000

/** Returns a shorter trace that still fails, by leaving out steps, then operations, then parts of charges. */
export async function shrink(trace: Trace, fails: (trace: Trace) => Promise<boolean>): Promise<Trace> {
  let shortest = trace
  let attempts = 0
  const untilMs = Date.now() + MAX_MS
  let hasShrunk = true
  while (hasShrunk && attempts < MAX_ATTEMPTS && Date.now() < untilMs) {
    hasShrunk = false
    for (const steps of shorter(shortest.steps)) {
      if (++attempts > MAX_ATTEMPTS || Date.now() > untilMs) break
      const candidate = { ...shortest, steps }
      if (!(await fails(candidate))) continue
      shortest = candidate
      hasShrunk = true
      break
    }
  }
  return shortest
}

/** Lists shorter traces: without a half, a quarter and so on, then without each part of a step. */
function* shorter(steps: readonly Step[]): Generator<readonly Step[]> {
  for (let size = Math.ceil(steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let from = 0; from < steps.length; from += size)
      if (size < steps.length) yield [...steps.slice(0, from), ...steps.slice(from + size)]
  for (const [i, step] of steps.entries())
    for (const smaller of smallerSteps(step)) yield steps.map((each, j) => (i === j ? smaller : each))
}

function* smallerSteps(step: Step): Generator<Step> {
  if (!('batch' in step)) return
  const { batch } = step
  for (const [i, plan] of batch.entries()) {
    if (batch.length > 1) yield { batch: batch.filter((_, j) => j !== i) }
    if (plan.type !== 'charge' || plan.parts.length === 1) continue
    for (const k of plan.parts.keys()) {
      const smaller = { ...plan, parts: plan.parts.filter((_, m) => m !== k) }
      yield { batch: batch.map((each, j) => (i === j ? smaller : each)) }
    }
  }
}
