import { concurrency, memoryStore } from 'headgate'
import { manualClock } from 'headgate/testing'
import { part, receiptOf, remainingOf } from '../../../../src/testing/conformance/store-calls.js'
import { describeConcurrency } from '../../../support/concurrency-suite.js'
import { chargeStore, refundStore, renewStore } from '../../../support/store-calls.js'

describeConcurrency('memoryStore', () => {
  let nowMs = 1_790_000_000_000
  return {
    store: memoryStore({ clock: () => nowMs }),
    now: () => nowMs,
    age(slices) {
      nowMs += slices * 450_000
    },
    shiftsStates: false,
  }
})

test('units in an overflow bucket are renewed and released there', async () => {
  const policy = concurrency({ limit: 2, ttl: '8s' })
  const clock = manualClock()
  const store = memoryStore({ maxKeys: 1, clock })
  const full = await receiptOf(store, 'limit:{first}', policy, 2)
  const over = await receiptOf(store, 'limit:{second}', policy, 1)
  expect(chargeStore(store, [[part('limit:{third}', policy, 2)]])[0]?.allowed).toBe(false)
  clock.advance('5s')
  const resetAtMs = renewStore(store, over)
  renewStore(store, full)
  clock.advance('5s')
  expect(chargeStore(store, [[part('limit:{third}', policy, 2)]])[0]?.allowed).toBe(false)
  refundStore(store, [{ ...over, resetAtMs }])
  expect(chargeStore(store, [[part('limit:{third}', policy, 2)]])[0]?.allowed).toBe(true)
  expect(await remainingOf(store, policy, ['limit:{first}'])).toEqual([0])
})

test('a renewal of an evicted key adds it again', async () => {
  const policy = concurrency({ limit: 3, ttl: '8s' })
  const store = memoryStore({ maxKeys: 1, clock: manualClock() })
  const units = await receiptOf(store, 'limit:{first}', policy, 1)
  await receiptOf(store, 'limit:{second}', policy, 1)
  expect(store.size).toBe(1)
  renewStore(store, units)
  expect(await remainingOf(store, policy, ['limit:{first}'])).toEqual([2])
})
