import { concurrency, consecutive, fixedWindow, type MemoryStore, memoryStore, StoreError } from 'headgate'
import type { ChargeResult, Operation } from 'headgate/store'
import { keysOf } from '../../../../src/stores/operation.js'
import { refundsOf } from '../../../../src/stores/shared/refunds.js'
import { applyBy, type Run } from '../../../../src/stores/shared/run-operations.js'
import { acrossShards } from '../../../../src/stores/shared/shards.js'
import type { Batching } from '../../../../src/stores/store.js'
import { type Parts, part } from '../../../../src/testing/conformance/store-calls.js'
import { chargeStore } from '../../../support/store-calls.js'

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
  const memory = memoryStore()
  const isLost = (operation: Operation) => keysOf(operation).some(({ key }) => key === 'lost')
  const one = charging(async (operations) =>
    operations.flatMap((operation) =>
      isLost(operation) ? new StoreError('test', 'connection lost') : memory.apply([operation]),
    ),
  )
  return { one }
}

test('a charge whose window ends between two shards is refunded to the windows of its units', async () => {
  const perSecond = fixedWindow({ limit: 3, window: '1s' })
  let nowMs = 999
  const memory = memoryStore({ clock: () => nowMs })
  const one = charging(async (operations) =>
    operations.flatMap((operation) => {
      const outcomes = memory.apply([operation])
      nowMs++
      return outcomes
    }),
  )
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
  const one = charging(async (operations) =>
    operations.flatMap((operation) => {
      const [first] = keysOf(operation)
      return stores[first?.key as keyof typeof stores].apply([operation])
    }),
  )
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

test('a charge that fails in one shard refunds what it took in others', async () => {
  const { one } = shardedStore()
  const charge = one(part('address', three, 2), part('user', three, 3), part('lost', three))
  await expect(charge).rejects.toThrow('connection lost')
  expect(await one(part('address', three, 3))).toMatchObject({ allowed: true })
  expect(await one(part('user', three, 3))).toMatchObject({ allowed: true })
})

test('a charge that one shard denies is denied, even if another one fails', async () => {
  const { one } = shardedStore()
  await one(part('account', three, 3))
  const verdict = await one(part('lost', three), part('account', three), part('address', three, 2))
  expect(verdict.parts.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
    [true, 3],
    [false, 0],
    [true, 3],
  ])
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

test('while one shard keeps denying a client, the others are only read', async () => {
  const costs: Record<string, number>[] = []
  const one = charging(
    runOn(memoryStore(), (operation) => {
      if (operation.type === 'charge')
        for (const { key, cost } of operation.parts) costs.push({ [key]: cost })
    }),
  )
  await one(part('account', three, 3))
  const both = [part('address', three), part('account', three)]
  await one(...both)
  costs.length = 0
  expect(await one(...both)).toMatchObject({ allowed: false, parts: [{ remaining: 3 }, { allowed: false }] })
  expect(costs).toEqual([{ account: 1 }, { address: 0 }])
})

test('a shard that no longer denies a client is charged together with the others again', async () => {
  const memory = memoryStore()
  const batches: number[] = []
  const one = charging(async (operations) => {
    batches.push(operations.length)
    return memory.apply(operations)
  })
  await one(part('account', three, 3))
  const both = [part('address', three), part('account', three)]
  await one(...both)
  memory.apply([{ type: 'forget', key: 'account', policy: three }])
  batches.length = 0
  expect(await one(...both)).toMatchObject({ allowed: true })
  expect(await one(...both)).toMatchObject({ allowed: true })
  expect(batches).toEqual([1, 1, 2])
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
