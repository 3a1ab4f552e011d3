import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { mysqlStore } from 'headgate/mysql'
import { postgresStore } from 'headgate/postgres'
import { createPool } from 'mysql2/promise'
import { Pool } from 'pg'
import { keyCodeOf } from '../../src/policies/spec.js'
import { chargeStore } from '../support/store-calls.js'
import { keyText, shuffledIndexes } from './contenders/keys.js'
import { longWindow } from './contenders/server-contender.js'
import { answerQuestions } from './harness/child.js'

/** The parent's questions. Charging returns how long each charge took, in milliseconds. */
export type PurgeQuestion =
  | { readonly do: 'prepare' | 'charge each key' | 'begin purging' | 'end purging' | 'check' }
  | { readonly do: 'charge'; readonly forMs: number }

const CALLERS = 50
/** Each caller charges once in this time: 500 charges a second in all. */
const EVERY_MS = 100
const KEYS = 10_000
const LONGER_THAN_ANY_PURGE_WAITS_MS = 3_600_000

const nowMs = performance.now.bind(performance)
/** The store's clock, by which it purges now and then, stands still until it is set forward. */
let storeMs = 0
performance.now = () => storeMs

const [server = '', url = ''] = process.argv.slice(2)
const connectionLimit = 10
const store =
  server === 'MariaDB'
    ? mysqlStore(createPool({ uri: url, connectionLimit }))
    : postgresStore(new Pool({ connectionString: url, max: connectionLimit }))
const policy = longWindow(1_000_000)
const keys = Array.from(shuffledIndexes(KEYS), (i) => `hg:3:api:${keyCodeOf(policy.spec)}:{${keyText(i)}}`)
const warnings: string[] = []
let charged = 0

process.on('warning', ({ message }) => warnings.push(message))
process.once('disconnect', () => process.exit()) // an open connection would keep it running

async function chargeOnTime(forMs: number): Promise<number[]> {
  const waited: number[] = []
  const startMs = nowMs()
  async function call(caller: number): Promise<void> {
    for (let dueMs = (caller * EVERY_MS) / CALLERS; dueMs < forMs; dueMs += EVERY_MS) {
      waited.push(await timedCharge(startMs + dueMs))
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, (_, caller) => call(caller)))
  assert.equal(waited.length, (CALLERS * forMs) / EVERY_MS, 'Not every charge was answered.')
  return waited
}

/** Charges a key at a moment. Where the caller waited for its last charge until then, that counts too. */
async function timedCharge(dueMs: number): Promise<number> {
  const earlyMs = dueMs - nowMs()
  if (earlyMs > 0) await pause(earlyMs)
  const startMs = earlyMs > 0 ? nowMs() : dueMs
  const key = keys[charged++ % KEYS] as string
  const [verdict] = await chargeStore(store, [[{ key, policy, cost: 1 }]])
  assert.equal(verdict?.allowed, true, 'A charge below the limit was denied.')
  return nowMs() - startMs
}

async function chargeEachKey(cost: number): Promise<number> {
  const verdicts = await chargeStore(
    store,
    keys.map((key) => [{ key, policy, cost }]),
  )
  charged += cost * KEYS
  return verdicts.reduce((used, { parts }) => used + policy.limit - (parts[0]?.remaining ?? Number.NaN), 0)
}

async function check(): Promise<void> {
  assert.deepEqual(warnings, [], 'The process was warned.')
  assert.equal(await chargeEachKey(0), charged, 'The keys were miscounted.')
}

answerQuestions((question: PurgeQuestion) => {
  switch (question.do) {
    case 'prepare':
      return store.prepare()
    case 'charge each key':
      return chargeEachKey(1)
    case 'charge':
      return chargeOnTime(question.forMs)
    case 'begin purging':
      storeMs += LONGER_THAN_ANY_PURGE_WAITS_MS
      return
    case 'end purging':
      return store.close()
    case 'check':
      return check()
  }
})
