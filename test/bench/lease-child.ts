import assert from 'node:assert/strict'
import { HOT_KEY_CONTENDERS, type HotKeyName, type Limit } from './contenders/leased-stores.js'
import { answerQuestions } from './harness/child.js'
import { measure, type Usage } from './harness/usage.js'

/**
 * An order of the parent: a number of decisions, as many as fit in a time, or the end, which returns what
 * the key has left.
 */
export type Question =
  | { readonly do: 'decide'; readonly callers: number; readonly decisions: number }
  | { readonly do: 'overload'; readonly callers: number; readonly forMs: number }
  | { readonly do: 'end' }

export interface Counts extends Usage {
  readonly allowed: number
  readonly denied: number
}

const [name = '', url = '', json = ''] = process.argv.slice(2)
process.once('disconnect', () => process.exit()) // else an open connection keeps it running
const make = HOT_KEY_CONTENDERS[name as HotKeyName]
assert.ok(make, `There is no contender ${name}.`)
const contender = await make(url, JSON.parse(json) as Limit)

/** Runs callers, each of which awaits a decision before its next one. */
async function runCallers(callers: number, isLast: () => boolean): Promise<Counts> {
  const counts = { allowed: 0, denied: 0 }
  const usage = measure()
  const runCaller = async () => {
    while (!isLast()) {
      if (await contender.decide()) counts.allowed++
      else counts.denied++
    }
  }
  await Promise.all(Array.from({ length: callers }, runCaller))
  return { ...usage(), ...counts }
}

answerQuestions((question: Question) => {
  if (question.do === 'end') return contender.end()
  if (question.do === 'overload') {
    const endMs = performance.now() + question.forMs
    return runCallers(question.callers, () => performance.now() >= endMs)
  }
  let left = question.decisions
  return runCallers(question.callers, () => left-- <= 0)
})
