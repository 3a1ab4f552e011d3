import assert from 'node:assert/strict'
import { Redis } from 'ioredis'
import { keyText, shuffled } from './contenders/keys.js'
import { REDIS_STORES, type RedisStoreName } from './contenders/redis-stores.js'
import { answerQuestions } from './harness/child.js'
import { measure, type Usage } from './harness/usage.js'

/** Who asks for what, in one round. Rounds go on with the keys where the last one stopped. */
export interface Workload {
  readonly callers: number
  readonly keys: number
  readonly decisions: number
}

/** What the parent asks: one round, or a look at what was counted in all rounds. */
export type Question = { readonly do: 'round' | 'check' }

/** What a round took in this process, and how long one caller waited; 0 where there are several. */
export interface CallerUsage extends Usage {
  readonly medianNs: number
  readonly p99Ns: number
}

const CHECKED_KEYS = 100
const LAST_UNITS = 100

const [name = '', url = '', workload = ''] = process.argv.slice(2)
const { callers, keys: keyCount, decisions } = JSON.parse(workload) as Workload
const client = new Redis(url, { autoResendUnfulfilledCommands: false })
process.once('disconnect', () => process.exit()) // an open connection would keep it running
const contender = await REDIS_STORES[name as RedisStoreName](client)
const keys = Array.from({ length: keyCount }, (_, i) => contender.keyOf(keyText(i)))
const draws = Array.from(shuffled(Math.max(decisions, keyCount)), (i) => keys[i % keyCount] as string) // each equally often
let drawn = 0

async function round(): Promise<CallerUsage> {
  const waited = new Float64Array(callers === 1 ? decisions : 0)
  const usage = measure()
  const allowed = callers === 1 ? await callAlone(waited) : await callTogether()
  const used = usage()
  assert.equal(allowed, decisions, `${name}: not every charge below the limit was allowed`)
  waited.sort()
  const quantileNs = (share: number) => 1e6 * (waited[Math.floor(share * waited.length)] ?? 0)
  return { ...used, medianNs: quantileNs(0.5), p99Ns: quantileNs(0.99) }
}

/** Each caller asks for its next decision when it has the last; they share what is drawn. */
async function callTogether(): Promise<number> {
  const end = drawn + decisions
  let allowed = 0
  async function call(): Promise<void> {
    while (drawn < end) {
      if (await contender.decide(draws[drawn++ % draws.length] as string)) allowed++
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  return allowed
}

async function callAlone(waited: Float64Array): Promise<number> {
  let allowed = 0
  for (let i = 0; i < decisions; i++) {
    const startMs = performance.now()
    if (await contender.decide(draws[drawn++ % draws.length] as string)) allowed++
    waited[i] = performance.now() - startMs
  }
  return allowed
}

/** That keys hold exactly what they were charged, and that one that is charged on stops exactly at its limit. */
async function check(): Promise<void> {
  assert.equal(drawn % draws.length, 0, 'Some keys were drawn more often than others.')
  const expected = drawn / keyCount
  for (let i = 0; i < keyCount; i += Math.ceil(keyCount / CHECKED_KEYS)) {
    assert.equal(await contender.used(keys[i] as string), expected, `${name}: a key was miscounted`)
  }
  if (contender.leave === undefined) return
  const one = keys[0] as string
  await contender.leave(one, LAST_UNITS)
  const answers = await Promise.all(Array.from({ length: 2 * LAST_UNITS }, () => contender.decide(one)))
  assert.equal(answers.filter(Boolean).length, LAST_UNITS, `${name}: the limit was not kept exactly`)
}

answerQuestions((question: Question) => (question.do === 'round' ? round() : check()))
