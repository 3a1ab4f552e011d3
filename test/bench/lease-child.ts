import assert from 'node:assert/strict'
import { HOT_KEY_CONTENDERS, type HotKeyName, type Limit } from './contenders/leased-stores.js'
import { answerQuestions } from './harness/child.js'
import { measure, type Usage } from './harness/usage.js'

/** What the parent asks: so many decisions, or as many as there are in a time; and what is left when all is done. */
export type Question =
  | { readonly do: 'decide'; readonly callers: number; readonly decisions: number }
  | { readonly do: 'press'; readonly callers: number; readonly forMs: number }
  | { readonly do: 'end' }

export interface Pressed extends Usage {
  readonly allowed: number
  readonly denied: number
}

const [name = '', url = '', json = ''] = process.argv.slice(2)
process.once('disconnect', () => process.exit()) // an open connection would keep it running
const make = HOT_KEY_CONTENDERS[name as HotKeyName]
assert.ok(make, `There is no contender ${name}.`)
const contender = await make(url, JSON.parse(json) as Limit)

/** Each caller asks for its next decision when it has the last. */
async function call(callers: number, isLast: () => boolean): Promise<Pressed> {
  const answers = { allowed: 0, denied: 0 }
  const usage = measure()
  const one = async () => {
    while (!isLast()) {
      if (await contender.decide()) answers.allowed++
      else answers.denied++
    }
  }
  await Promise.all(Array.from({ length: callers }, one))
  return { ...usage(), ...answers }
}

answerQuestions((question: Question) => {
  if (question.do === 'end') return contender.end()
  if (question.do === 'press') {
    const endMs = performance.now() + question.forMs
    return call(question.callers, () => performance.now() >= endMs)
  }
  let left = question.decisions
  return call(question.callers, () => left-- <= 0)
})
