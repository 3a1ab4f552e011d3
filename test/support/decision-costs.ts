import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLimiter, fixedWindow, type Policy, tokenBucket } from 'headgate'
import type { Store } from 'headgate/store'
import {
  chargeOne,
  type Parts,
  part,
  receiptOf,
  remainingOf,
} from '../../src/testing/conformance/store-calls.js'
import { ROOT } from '../e2e/package/run.js'
import { chargeStore, refundStore } from './store-calls.js'

/** Prepares a decision about a client, and returns what makes it. */
export type PrepareDecision = (store: Store, client: string) => Promise<() => unknown>

/** Decisions by their row in the table of a page. */
export type Decisions = Readonly<Record<string, PrepareDecision>>

/** All limits of a client, as a limiter has them: on Redis, their keys have one slot. */
const keyOf = (client: string, limit: string) => `{${client}}:${limit}`

const CLIENTS_AT_ONCE = 10
/** The row of a denial that takes no request. */
export const CACHED = 'denied by the [denial cache](../reliability.md)'

/** Returns the decisions that every store makes, by two limits of five units a day. */
export function decisionsOf(first: Policy, second: Policy): Decisions {
  const one = (client: string, cost = 1) => part(keyOf(client, 'first'), first, cost)
  const other = (client: string, cost = 1) => part(keyOf(client, 'second'), second, cost)
  const after =
    (...before: ((client: string) => Parts)[]) =>
    (decide: (store: Store, client: string) => unknown): PrepareDecision =>
    async (store, client) => {
      for (const parts of before) await chargeOne(store, ...parts(client))
      return () => decide(store, client)
    }
  const chargeFirst = (store: Store, client: string) => chargeOne(store, one(client))
  const chargeBoth = (store: Store, client: string) => chargeOne(store, one(client), other(client))
  const clients = (client: string) => Array.from({ length: CLIENTS_AT_ONCE }, (_, i) => `${client}-${i}`)
  return {
    'the first of a client': after()(chargeFirst),
    allowed: after((client) => [one(client)])(chargeFirst),
    denied: after((client) => [one(client, 5)])(chargeFirst),
    'of two limits, allowed': after((client) => [one(client), other(client)])(chargeBoth),
    'of two limits, denied by the second': after(
      (client) => [one(client)],
      (client) => [other(client, 5)],
    )(chargeBoth),
    'ten clients at once, allowed': async (store, client) => {
      const charges = clients(client).map((each) => [one(each)])
      await chargeStore(store, charges)
      return () => chargeStore(store, charges)
    },
    'ten requests of a new client at once, five allowed': after()((store, client) =>
      chargeStore(store, Array(10).fill([one(client)])),
    ),
    refund: async (store, client) => {
      const receipt = await receiptOf(store, keyOf(client, 'first'), first, 2)
      return () => refundStore(store, [{ ...receipt, cost: 1 }])
    },
    peek: after((client) => [one(client)])((store, client) =>
      remainingOf(store, first, [keyOf(client, 'first')]),
    ),
    [CACHED]: async (store, client) => {
      const limiter = createLimiter({ name: client, policy: first, key: () => client, store, timeout: '10s' })
      for (let i = 0; i < 6; i++) await limiter.charge(undefined)
      return () => limiter.charge(undefined)
    },
  }
}

/** The decisions that pages show. */
export const DECISIONS = decisionsOf(
  tokenBucket({ capacity: 5, refill: 5, every: '1d' }),
  fixedWindow({ limit: 5, window: '1d' }),
)

/** Returns the rows of the table of a page that begins with a column: their first cells, and their figures. */
export function costTable(page: string, column = 'decision'): (readonly [string, readonly number[]])[] {
  const text = readFileSync(join(ROOT, `docs/stores/${page}.md`), 'utf8')
  const [, table = ''] = new RegExp(`^\\| ${column} \\|.*\\n\\|[-|]+\\n((?:\\|.*\\n)+)`, 'm').exec(text) ?? []
  return table
    .trim()
    .split('\n')
    .map((line) => line.split('|').slice(1, -1))
    .map(([decision = '', ...figures]) => [decision.trim(), figures.map(Number)] as const)
}

/** Counts what a step takes. */
export type CountCosts = (step: () => unknown) => Promise<readonly number[]>

/**
 * Returns what each decision costs. Each is made for another client before, so that the store's scripts and
 * statements are known.
 */
export async function costsOf(store: Store, decisions: Decisions, count: CountCosts) {
  const rows: (readonly [string, readonly number[]])[] = []
  for (const [i, [decision, prepare]] of Object.entries(decisions).entries()) {
    await (await prepare(store, `warm-up-${i}`))()
    rows.push([decision, await count(await prepare(store, `counted-${i}`))])
  }
  return rows
}
