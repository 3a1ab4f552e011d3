import { concurrency, consecutive, fixedWindow, type MemoryStore, memoryStore } from 'headgate'
import type { ChargeResult, Operation } from 'headgate/store'
import { acrossShards } from '../../../src/pipe/shards.js'
import { keysOf } from '../../../src/stores/operation.js'
import { refundsOf } from '../../../src/stores/shared/refunds.js'
import { applyBy, type Run } from '../../../src/stores/shared/run-operations.js'
import type { Batching } from '../../../src/stores/store.js'
import { type Parts, part } from '../../../src/testing/conformance/store-calls.js'
import { chargeStore } from '../../support/store-calls.js'

const three = consecutive({ limit: 3 })

const BATCHING: Batching = { maxKeys: 100, maxInFlight: 2 }

/** Runs operations on a store. Calls `before` with each operation, which may throw. */
function runOn(store: MemoryStore, before: (operation: Operation) => void = () => {}): Run {
  return async (operations) => {
    operations.forEach(before)
    return store.apply(operations)
  }
}

/** Charges across shards, of which each key is one. */
function charging(run: Run) {
  const apply = applyBy(
    'test',
    acrossShards((key) => key, run, BATCHING),
    BATCHING,
  )
  return async (...parts: Parts): Promise<ChargeResult> => {
    const [outcome] = await apply([{ type: 'charge', parts }])
    if (outcome instanceof Error) throw outcome
    return outcome as ChargeResult
  }
}

/** Charges in a memory store. Those of `lost` fail. */
function shardedStore() {
  const failIfLost = (operation: Operation) => {
    if (keysOf(operation).some(({ key }) => key === 'lost')) throw new Error('connection lost')
  }
  return { one: charging(runOn(memoryStore(), failIfLost)) }
}

test('a charge whose window ends between two shards is refunded to the windows of its units', async () => {
  const perSecond = fixedWindow({ limit: 3, window: '1s' })
  let nowMs = 999
  const memory = memoryStore({ clock: () => nowMs })
  const run = runOn(memory)
  const one = charging(async (operations) => {
    const outcomes = await run(operations)
    nowMs += operations.length
    return outcomes
  })
  const parts = [part('address', perSecond), part('account', perSecond)]
  const verdict = await one(...parts)
  expect(verdict).toMatchObject({ allowed: true, atMs: 999, parts: [{ remaining: 2 }, { atMs: 1000 }] })
  await one(part('address', perSecond)) // in the second window, which the first part was not taken from
  memory.apply(refundsOf(parts, verdict))
  const left = chargeStore(
    memory,
    parts.map((each) => [{ ...each, cost: 0 }]),
  )
  expect(left.map((each) => each.parts[0]?.remaining)).toEqual([2, 3])
})

test('a charge that one shard denies shows each other part at the time of its own shard', async () => {
  const perSecond = fixedWindow({ limit: 3, window: '1s' })
  const nowMs = { behind: 1999, ahead: 2000 }
  const stores = {
    behind: memoryStore({ clock: () => nowMs.behind }),
    ahead: memoryStore({ clock: () => nowMs.ahead }),
  }
  const one = charging(async (operations) => {
    const [first] = operations.flatMap(keysOf)
    return stores[first?.key as keyof typeof stores].apply(operations)
  })
  await one(part('behind', perSecond))
  await one(part('ahead', perSecond, 3))
  for (const order of [['behind', 'ahead'] as const, ['ahead', 'behind'] as const]) {
    const denied = await one(...order.map((key) => part(key, perSecond)))
    expect(denied).toMatchObject({ allowed: false, atMs: 2000 })
    const shown = denied.parts[order.indexOf('behind')]
    expect(shown).toMatchObject({ atMs: 1999, remaining: 2, resetAfterMs: 1 })
  }
})

test('a denial is tentative where one of several shards denies, since others may hold units of its key', async () => {
  const { one } = shardedStore()
  await one(part('account', three, 3))
  expect(await one(part('address', three), part('account', three))).toMatchObject({ isTentative: true })
  expect(await one(part('account', three))).not.toHaveProperty('isTentative')
})

test('a charge that fails in one shard refunds what it took in those before', async () => {
  const { one } = shardedStore()
  const charge = one(part('address', three, 2), part('user', three, 3), part('lost', three))
  await expect(charge).rejects.toThrow('connection lost')
  expect(await one(part('address', three, 3))).toMatchObject({ allowed: true })
  expect(await one(part('user', three, 3))).toMatchObject({ allowed: true })
})

test('a charge that one shard denies takes nothing in any, whichever shard it is', async () => {
  const keys = ['a', 'b', 'c']
  for (const full of keys) {
    const { one } = shardedStore()
    await one(part(full, three, 3))
    const verdict = await one(...keys.map((key) => part(key, three)))
    expect(verdict.allowed).toBe(false)
    expect(verdict.parts.map(({ allowed, remaining }) => [allowed, remaining])).toEqual(
      keys.map((key) => (key === full ? [false, 0] : [true, 3])),
    )
  }
})

test('the parts after the denying one show whether each alone would have been allowed', async () => {
  const { one } = shardedStore()
  await one(part('a', three, 3), part('b', three, 2), part('c', three, 3))
  const verdict = await one(part('a', three), part('b', three), part('c', three), part('d', three, 4))
  expect(verdict.parts.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
    [false, 0],
    [true, 1],
    [false, 0],
    [false, 3],
  ])
  const never = Number.POSITIVE_INFINITY
  expect(verdict.parts.map(({ retryAfterMs }) => retryAfterMs)).toEqual([never, 0, never, never])
})

test('units of concurrency are held in each shard, and by no charge that another shard denies', async () => {
  const held = concurrency({ limit: 2, ttl: '1h' })
  const { one } = shardedStore()
  await one(part('full', three, 3))
  expect((await one(part('slots', held, 2), part('full', three))).allowed).toBe(false)
  expect((await one(part('slots', held, 2), part('other', three))).allowed).toBe(true)
  const { parts } = await one(part('full', three), part('slots', held))
  expect(parts[1]).toMatchObject({ allowed: false, retryAfterMs: 1000 })
})

test('a client over its own limit takes no units of a shared one', async () => {
  const own = consecutive({ limit: 1 })
  const shared = consecutive({ limit: 8 })
  const one = charging(runOn(memoryStore()))
  const charge = (client: string) => one(part(client, own), part('all', shared))
  const attacker = Array.from({ length: 40 }, () => charge('attacker'))
  const others = ['ada', 'ben', 'cleo', 'dan', 'eve'].map(charge)
  expect((await Promise.all(others)).map(({ allowed }) => allowed)).toEqual([true, true, true, true, true])
  expect((await Promise.all(attacker)).filter(({ allowed }) => allowed)).toHaveLength(1)
})
