// Has the fake timers of Vitest stand still while a limiter of a remote store decides.

import { createLimiter, tokenBucket } from 'headgate'
import { compareAndSwapStore } from 'headgate/store'
import { afterEach, expect, test, vi } from 'vitest'

/** All but `nextTick`, which Vitest does not fake in a child process. */
const FAKED = ['queueMicrotask', 'setTimeout', 'setImmediate', 'setInterval', 'Date', 'performance']

const states = new Map()
const store = compareAndSwapStore({
  name: 'swapped',
  read: async (keys) => keys.map((key) => states.get(key)),
  async swap({ key, version = 0, state }) {
    if ((states.get(key)?.version ?? 0) !== version) return false
    states.set(key, { state, version: version + 1 })
    return true
  },
})

afterEach(() => vi.useRealTimers())

test.each([
  ['as by default', undefined],
  ['of all', { toFake: FAKED }],
  ['and the date of 1970', { now: 0 }],
])('with fake timers %s', async (name, options) => {
  vi.useFakeTimers(options)
  const policy = tokenBucket({ capacity: 20, refill: 1, every: '1h' })
  const limiter = createLimiter({
    name: name.replaceAll(' ', '-'),
    policy,
    key: () => 'ada',
    store,
    onStoreError: 'deny',
  })
  const decisions = await Promise.all(Array.from({ length: 40 }, () => limiter.charge()))
  expect(decisions.filter(({ allowed }) => allowed).length).toBe(20)
})
