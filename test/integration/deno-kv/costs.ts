/** Sends what decisions cost, each with one limit and with three. */
import { createLimiter, fixedWindow, slidingLog } from 'headgate'
import { denoKvStore } from 'headgate/deno-kv'
import type { Operation } from 'headgate/store'
import type { DenoKv } from '../../../src/stores/deno-kv/client.js'
import { chargeOne, part } from '../../../src/testing/conformance/store-calls.js'
import { type MeteredKv, metered, type Units } from './metered.js'
import { openKv } from './open.js'
import { sendLast } from './send-last.js'

/** What a decision that concerns so many limits, or units of a log, took. */
export interface Cost extends Units {
  readonly decision: string
  readonly count: number
}

const policy = fixedWindow({ limit: 5, window: '1000d' })

const charge = (kv: DenoKv, limits: number, cost = 1) =>
  chargeOne(denoKvStore(kv), ...Array.from({ length: limits }, (_, i) => part(`key-${i}`, policy, cost)))

/** Prepares through a KV, and returns what to do through the metered one. */
type Decision = (kv: DenoKv, counted: MeteredKv, count: number) => Promise<() => Promise<unknown>>

const DECISIONS: Readonly<Record<string, Decision>> = {
  async allowed(kv, counted, limits) {
    await charge(kv, limits)
    return () => charge(counted, limits)
  },
  async denied(kv, counted, limits) {
    await charge(kv, limits, 5)
    return () => charge(counted, limits)
  },
  async cached(_, counted, limits) {
    const limiter = createLimiter({
      name: 'cached',
      limits: Array.from({ length: limits }, (_, i) => ({ name: `limit-${i}`, policy, key: () => 'ada' })),
      store: denoKvStore(counted),
      timeout: '30s',
    })
    for (let i = 0; i < 6; i++) await limiter.charge(undefined)
    return () => limiter.charge(undefined)
  },
  async 'in conflict'(kv, counted, limits) {
    counted.beforeCommit = () => charge(kv, limits)
    return () => charge(counted, limits)
  },
  async together(_, counted, limits) {
    const parts = Array.from({ length: limits }, (_, i) => part(`key-${i}`, policy))
    const operation: Operation = { type: 'charge', parts }
    return async () => denoKvStore(counted).apply(Array.from({ length: 30 }, () => operation))
  },
  /** Of a hundred logs at once, which together nearly fill a commit. */
  async logs(kv, counted, units) {
    const log = slidingLog({ limit: 1000, window: '1000d' })
    const charge = (cost: number) =>
      Array.from({ length: 100 }, (_, i): Operation => ({ type: 'charge', parts: [part(`${i}`, log, cost)] }))
    await denoKvStore(kv).apply(charge(units - 1))
    return async () => {
      const outcomes = await denoKvStore(counted).apply(charge(1))
      for (const outcome of outcomes) if (outcome instanceof Error) throw outcome
    }
  },
  /** Of a log of so many units, in a value that names as many commits as it ever does. */
  async log(kv, counted, units) {
    const log = slidingLog({ limit: units, window: '1000d' })
    await chargeOne(denoKvStore(kv), part('log', log, units - 16))
    for (let i = 0; i < 15; i++) await chargeOne(denoKvStore(kv), part('log', log))
    return () => chargeOne(denoKvStore(counted), part('log', log))
  },
}

async function costOf(decision: string, count: number): Promise<Cost> {
  const kv = await openKv()
  const counted = metered(kv)
  const decide = await DECISIONS[decision]?.(kv, counted, count)
  const before = { ...counted.units }
  await decide?.()
  kv.close()
  const { readUnits, writeUnits } = counted.units
  return {
    decision,
    count,
    readUnits: readUnits - before.readUnits,
    writeUnits: writeUnits - before.writeUnits,
  }
}

/** The sizes of logs are around those that the page names. */
const COUNTS: Readonly<Record<string, readonly number[]>> = { log: [85, 100, 425, 450], logs: [779] }
const costs: Cost[] = []
for (const decision of Object.keys(DECISIONS))
  for (const count of COUNTS[decision] ?? [1, 3]) costs.push(await costOf(decision, count))
sendLast(costs)
