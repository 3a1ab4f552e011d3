import assert from 'node:assert/strict'
import { memoryStore, tokenBucket } from 'headgate'
import { chargeStore, forgetStore } from '../support/store-calls.js'
import { keyText, shuffledIndexes } from './contenders/keys.js'
import { LIMIT, STORES, type StoreName } from './contenders/stores.js'
import { answerQuestions } from './harness/child.js'
import { collectGarbage, measure, type Usage } from './harness/usage.js'

/**
 * The parent's questions: a store with all keys in it, a round, the counts so far, or times of single
 * calls.
 */
export type Question =
  | { readonly do: 'fill' | 'check' | 'grow and shrink' }
  | { readonly do: 'round'; readonly decisions: number }

/** The longest single call, in each direction. */
export interface Pauses {
  readonly growingMs: number
  readonly shrinkingMs: number
}

/** Keys that are made at a time: few enough to be in a cache, as those of requests are. */
const MADE_AT_ONCE = 1_000
const CALLS_PER_LOOK = 100

const [name = '', keyCount = ''] = process.argv.slice(2)
const count = Number(keyCount)
const order = shuffledIndexes(count)
let drawn = 0

const store = STORES[name as StoreName](count)

async function fill(): Promise<void> {
  await charge(count)
  collectGarbage()
}

/** Charges the next keys, and gives what that took without the making of the keys. */
async function charge(decisions: number): Promise<Usage> {
  let [wallNs, cpuNs, allowed] = [0, 0, 0]
  for (let done = 0; done < decisions; done += MADE_AT_ONCE) {
    const keys = Array.from({ length: MADE_AT_ONCE }, (_, i) => keyAt(drawn + i))
    const usage = measure()
    allowed += await store.charge(keys, 0, MADE_AT_ONCE)
    const used = usage()
    wallNs += used.wallNs
    cpuNs += used.cpuNs
    drawn += MADE_AT_ONCE
  }
  assert.equal(allowed, decisions, `${name}: not every charge below the limit was allowed`)
  return { wallNs, cpuNs }
}

function keyAt(i: number): string {
  return keyText(order[i % count] as number)
}

/** That keys hold exactly what they were charged. */
async function check(): Promise<void> {
  for (let at = 0; at < count; at += Math.ceil(count / 1000)) {
    const expected = Math.ceil((drawn - at) / count)
    assert.equal(await store.used(keyAt(at)), expected, `${name}: a key was miscounted`)
  }
}

function growAndShrink(keys: number): Pauses {
  const policy = tokenBucket({ capacity: LIMIT, refill: LIMIT, every: '365d' })
  const growing = memoryStore({ maxKeys: keys })
  const growingMs = longest(keys, (key) => chargeStore(growing, [[{ key, policy, cost: 1 }]]))
  assert.equal(growing.size, keys)
  const shrinkingMs = longest(keys, (key) => forgetStore(growing, [{ key, policy }]))
  assert.equal(growing.size, 0)
  return { growingMs, shrinkingMs }
}

/**
 * The longest call of all. One that the machine interrupted counts as no longer than the CPU time of this
 * process, sampled now and then.
 */
function longest(keys: number, call: (key: string) => unknown): number {
  let longestMs = 0
  let cpu = process.cpuUsage()
  for (let i = 0; i < keys; i++) {
    if (i % CALLS_PER_LOOK === 0) cpu = process.cpuUsage()
    const key = keyAt(i)
    const startMs = performance.now()
    call(key)
    const wallMs = performance.now() - startMs
    if (wallMs <= longestMs) continue
    const { user, system } = process.cpuUsage(cpu)
    longestMs = Math.max(longestMs, Math.min(wallMs, (user + system) / 1000))
  }
  return longestMs
}

answerQuestions((question: Question) => {
  if (question.do === 'round') return charge(question.decisions)
  if (question.do === 'fill') return fill()
  if (question.do === 'check') return check()
  growAndShrink(Math.min(count, 100_000)) // for the compiler
  return growAndShrink(count)
})
