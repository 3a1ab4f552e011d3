import { type Charge, consecutive, fixedWindow, memoryStore, type Verdict } from 'headgate'
import { spreadCharges } from '../../../../src/stores/shared/cross-shard.js'
import { refundsOf } from '../../../../src/stores/shared/refunds.js'
import { part } from '../../../conformance/kit.js'

const three = consecutive({ limit: 3 })

/**
 * Charges by way of a memory store, in which each key has a place of its own. Those of `slow` wait until
 * they are let go, those of `slower` for good, and those of `lost` fail.
 */
function spread() {
  const memory = memoryStore()
  let letGo = () => {}
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const delays: Record<string, () => Promise<void>> = {
    slow: () => held,
    slower: () => new Promise(() => {}),
    lost: () => Promise.reject(new Error('connection lost')),
  }
  const charge = spreadCharges({
    placeOf: (key) => key,
    async take(charges) {
      for (const [first] of charges) await delays[first?.key ?? '']?.()
      return memory.charge(charges)
    },
    look: async (charges) => memory.charge(charges.map((each) => each.map((one) => ({ ...one, cost: 0 })))),
    refund: async (refunds) => memory.refund(refunds),
    onNotGivenBack: () => {},
  })
  const one = async (...parts: Charge) => (await charge([parts]))[0] as Verdict
  return { one, letGo }
}

test('a denial is tentative while a charge that may yet give back holds units of the same key', async () => {
  const { one, letGo } = spread()
  await one(part('address', three, 2))
  const onItsWay = one(part('address', three), part('slow', three, 4)) // is going to be denied there
  expect(await one(part('address', three))).toMatchObject({ allowed: false, isTentative: true })
  expect((await one(part('other', three, 4))).isTentative).toBeUndefined()
  letGo()
  expect(await onItsWay).toMatchObject({ allowed: false, isTentative: true })
  expect(await one(part('address', three))).toMatchObject({ allowed: true })
  const denial = await one(part('address', three))
  expect(denial.allowed).toBe(false)
  expect(denial).not.toHaveProperty('isTentative')
})

test('and while several do, until the last has ended', async () => {
  const { one, letGo } = spread()
  await one(part('address', three, 3), part('other', three))
  const onTheirWay = [1, 2].map(() => one(part('address', three, 0), part('slow', three)))
  expect((await one(part('address', three))).isTentative).toBe(true)
  letGo()
  await Promise.all(onTheirWay)
  expect((await one(part('address', three))).isTentative).toBeUndefined()
})

test('what is allowed is never tentative', async () => {
  const { one, letGo } = spread()
  const onItsWay = one(part('address', three), part('slow', three))
  expect(await one(part('address', three))).not.toHaveProperty('isTentative')
  letGo()
  expect(await onItsWay).not.toHaveProperty('isTentative')
})

test('a charge whose window ends between two places is refunded to the windows that it came from', async () => {
  const perSecond = fixedWindow({ limit: 3, window: '1s' })
  let nowMs = 999
  const memory = memoryStore({ clock: () => nowMs })
  const charge = spreadCharges({
    placeOf: (key) => key,
    async take(charges) {
      const verdicts = memory.charge(charges)
      nowMs++
      return verdicts
    },
    look: async (charges) => memory.charge(charges),
    refund: async (refunds) => memory.refund(refunds),
    onNotGivenBack: () => {},
  })
  const parts = [part('address', perSecond), part('account', perSecond)]
  const verdict = (await charge([parts]))[0] as Verdict
  expect(verdict).toMatchObject({ allowed: true, atMs: 999, parts: [{ atMs: 999 }, { atMs: 1000 }] })
  await charge([[part('address', perSecond)]]) // in the second window, which the first part was not taken from
  memory.refund(refundsOf(parts, verdict))
  const left = memory.charge(parts.map((one) => [{ ...one, cost: 0 }]))
  expect(left.map((each) => each.parts[0]?.remaining)).toEqual([2, 3])
})

test('a denial stays tentative when one of several such charges has ended', async () => {
  const { one, letGo } = spread()
  await one(part('address', three))
  const first = one(part('address', three), part('slow', three))
  one(part('address', three), part('slower', three))
  letGo()
  expect(await first).toMatchObject({ allowed: true })
  expect(await one(part('address', three))).toMatchObject({ allowed: false, isTentative: true })
})

test('a charge that fails at one place gives back what it took at those before', async () => {
  const { one } = spread()
  const charge = one(part('address', three, 2), part('user', three, 3), part('lost', three))
  await expect(charge).rejects.toThrow('connection lost')
  expect(await one(part('address', three, 3))).toMatchObject({ allowed: true })
  expect(await one(part('user', three, 3))).toMatchObject({ allowed: true })
})

test('a charge that is denied at one place takes nothing at any, wherever that place is', async () => {
  const keys = ['a', 'b', 'c']
  for (const full of keys) {
    const { one } = spread()
    await one(part(full, three, 3))
    const verdict = await one(...keys.map((key) => part(key, three)))
    expect(verdict.allowed).toBe(false)
    expect(verdict.parts.map(({ allowed, remaining }) => [allowed, remaining])).toEqual(
      keys.map((key) => (key === full ? [false, 0] : [true, 3])),
    )
  }
})
