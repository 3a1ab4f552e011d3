import { type Charge, concurrency, consecutive, fixedWindow, memoryStore, type Verdict } from 'headgate'
import { crossShardCharge } from '../../../../src/stores/shared/cross-shard.js'
import { refundsOf } from '../../../../src/stores/shared/refunds.js'
import { part } from '../../../../src/testing/conformance/store-calls.js'

const three = consecutive({ limit: 3 })

/** Charges in a memory store, of which each key is a shard. Those of `lost` fail. */
function shardedStore() {
  const memory = memoryStore()
  const charge = crossShardCharge({
    shardOf: (key) => key,
    async charge(charges) {
      if (charges.some(([first]) => first?.key === 'lost')) throw new Error('connection lost')
      return memory.charge(charges)
    },
    refund: async (refunds) => memory.refund(refunds),
  })
  const one = async (...parts: Charge) => (await charge([parts]))[0] as Verdict
  return { one }
}

test('a charge whose window ends between two shards is refunded to the windows of its units', async () => {
  const perSecond = fixedWindow({ limit: 3, window: '1s' })
  let nowMs = 999
  const memory = memoryStore({ clock: () => nowMs })
  const charge = crossShardCharge({
    shardOf: (key) => key,
    async charge(charges) {
      const verdicts = memory.charge(charges)
      nowMs++
      return verdicts
    },
    refund: async (refunds) => memory.refund(refunds),
  })
  const parts = [part('address', perSecond), part('account', perSecond)]
  const verdict = (await charge([parts]))[0] as Verdict
  expect(verdict).toMatchObject({ allowed: true, atMs: 999, parts: [{ atMs: 999 }, { atMs: 1000 }] })
  await charge([[part('address', perSecond)]]) // in the second window, which the first part was not taken from
  memory.refund(refundsOf(parts, verdict))
  const left = memory.charge(parts.map((one) => [{ ...one, cost: 0 }]))
  expect(left.map((each) => each.parts[0]?.remaining)).toEqual([2, 3])
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
