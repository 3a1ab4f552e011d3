import { createLimiter, memoryStore, tokenBucket } from 'headgate'
import type { LimitOptions } from '../../../../src/limiter/options.js'
import { listenForWarnings } from '../../../support/warnings.js'

interface Login {
  readonly address: string
  readonly name: string
}

const policy = tokenBucket({ capacity: 5, refill: 5, every: '1h' })
const byName = { name: 'name', policy, key: ({ name }: Login) => name }
const byAddress = {
  name: 'address',
  policy: tokenBucket({ capacity: 50, refill: 50, every: '1h' }),
  key: ({ address }: Login) => address,
}

let warnings: () => unknown[]
beforeEach(() => {
  warnings = listenForWarnings()
})
afterEach(() => jest.restoreAllMocks())

/**
 * One client uses up the limits of many names; then 20 real users send five requests each. Returns how many
 * pass.
 */
async function attack(...limits: LimitOptions<Login>[]): Promise<number> {
  const limiter = createLimiter<Login>({ limits, store: memoryStore({ maxKeys: 100, clock: () => 0 }) })
  for (let i = 0; i < 1000; i++)
    await limiter.charge({ address: '203.0.113.7', name: `name-${Math.floor(i / 5)}` })
  let passed = 0
  for (let i = 0; i < 100; i++) {
    const user = i % 20
    const { allowed } = await limiter.charge({ address: `198.51.100.${user}`, name: `user-${user}` })
    if (allowed) passed++
  }
  return passed
}

test('a store that one client has filled with names at their limit refuses real users, and reports it', async () => {
  expect(await attack(byName)).toBeLessThan(5)
  expect(warnings()).toEqual(['HEADGATE_MEMORY_FULL'])
})

test('an address limit in the same charge leaves real users their whole limit', async () => {
  expect(await attack(byAddress, byName)).toBe(100)
})
