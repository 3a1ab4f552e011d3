import assert from 'node:assert/strict'
import { keyText, shuffledIndexes } from './contenders/keys.js'
import { LIMIT, STORES, type StoreName } from './contenders/stores.js'
import { answerQuestions } from './harness/child.js'
import { collectGarbage, measure, type Usage } from './harness/usage.js'

/** The parent's questions: a store with all keys in it, a round of decisions, or the counts so far. */
export type Question =
  | { readonly do: 'fill' | 'check' }
  | { readonly do: 'round'; readonly decisions: number }

const [name = '', keyCount = ''] = process.argv.slice(2)
const count = Number(keyCount)
const store = STORES[name as StoreName](count)
const keys = Array.from(shuffledIndexes(count), keyText)
let drawn = 0

async function fill(): Promise<void> {
  // In another order, and with its own strings, so that keys drawn later are not near stored ones in memory.
  const allowed = await store.charge(
    Array.from({ length: count }, (_, i) => keyText(i)),
    0,
    count,
  )
  assert.equal(allowed, count, `${name}: fresh keys were denied`)
  collectGarbage()
}

async function round(decisions: number): Promise<Usage> {
  const usage = measure()
  const allowed = await store.charge(keys, drawn, decisions)
  const used = usage()
  assert.equal(allowed, decisions, `${name}: not every charge below the limit was allowed`)
  drawn += decisions
  return used
}

/**
 * That keys hold exactly what they were charged, and that one that is charged on stops exactly at its
 * limit.
 */
async function check(): Promise<void> {
  for (let at = 0; at < count; at += Math.ceil(count / 1000)) {
    const expected = 1 + Math.ceil((drawn - at) / count)
    assert.equal(await store.used(keys[at] as string), expected, `${name}: a key was miscounted`)
  }
  const one = keys[0] as string
  const left = LIMIT - (await store.used(one))
  assert.equal(await store.charge([one], 0, LIMIT), left, `${name}: the limit was not kept exactly`)
}

answerQuestions((question: Question) => {
  if (question.do === 'round') return round(question.decisions)
  return question.do === 'fill' ? fill() : check()
})
