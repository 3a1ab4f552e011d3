import { ban, fixedWindow, memoryStore, slidingWindow, tokenBucket } from 'headgate'
import type { Take, TakeResult } from 'headgate/store'
import { manualClock } from 'headgate/testing'
import { readStanding } from '../../../../src/stores/shared/read-standing.js'
import { chargeStore } from '../../../support/store-calls.js'

const clock = manualClock()
const store = memoryStore({ clock })
const apply = (operation: Take) => store.apply([operation])[0] as TakeResult

test('a key that has taken nothing has no standing, and gets none by reading', () => {
  const policy = tokenBucket({ capacity: 5, refill: 5, every: '1m' })
  expect(readStanding(apply, { key: 'new', policy })).toBeUndefined()
  expect(store.size).toBe(0)
})

test('an exhausted bucket shows when there is more, and when all is back', () => {
  const policy = tokenBucket({ capacity: 5, refill: 5, every: '1m' })
  chargeStore(store, [[{ key: 'bucket', policy, cost: 5 }]])
  expect(readStanding(apply, { key: 'bucket', policy })).toEqual({
    limit: 5,
    remaining: 0,
    moreAfterMs: 12_000,
    resetAfterMs: 60_000,
    bannedForMs: 0,
  })
})

test('reading takes nothing', () => {
  const policy = slidingWindow({ limit: 5, window: '1m' })
  chargeStore(store, [[{ key: 'window', policy, cost: 2 }]])
  const before = readStanding(apply, { key: 'window', policy })
  expect(before).toMatchObject({ remaining: 3 })
  expect(readStanding(apply, { key: 'window', policy })).toEqual(before)
})

test('a ban shows how long it lasts', () => {
  const policy = ban(fixedWindow({ limit: 1, window: '1s' }), { after: 1, within: '1m', for: '10m' })
  chargeStore(store, [[{ key: 'banned', policy, cost: 1 }], [{ key: 'banned', policy, cost: 1 }]])
  clock.advance(60_000)
  expect(readStanding(apply, { key: 'banned', policy })).toMatchObject({
    remaining: 0,
    moreAfterMs: 540_000,
    bannedForMs: 540_000,
  })
})

test('a state that is fresh again is none', () => {
  const policy = tokenBucket({ capacity: 5, refill: 5, every: '1s' })
  chargeStore(store, [[{ key: 'old', policy, cost: 5 }]])
  clock.advance(1000)
  expect(readStanding(apply, { key: 'old', policy })).toBeUndefined()
})

test('a state shows under the numbers of the policy that reads it', () => {
  const before = fixedWindow({ limit: 9, window: '1h' })
  chargeStore(store, [[{ key: 'plans', policy: before, cost: 2 }]])
  const policy = fixedWindow({ limit: 5, window: '1m' })
  expect(readStanding(apply, { key: 'plans', policy })).toMatchObject({ limit: 5, remaining: 3 })
})
