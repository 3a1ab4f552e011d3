import { setTimeout as pause } from 'node:timers/promises'
import { sharedSettings } from 'headgate'
import { until } from '../support/servers/wait.js'
import { sendAtOnce, statusAt } from './at-once.js'
import { expectHang } from './hanging.js'
import { Owner } from './owner.js'
import type { RuntimeName } from './runtimes.js'
import { type Running, startIn } from './start-in.js'

/** How many requests meet a store that hangs, and how long limiters wait for it: until it has decided all of them. */
interface Hanging {
  readonly hanging: readonly number[]
  readonly timeout: string
}

/** Defines the tests that requests of a runtime's isolate never wait for one another. */
export function describeIsolates(runtime: RuntimeName, { hanging, timeout }: Hanging): void {
  describe(`in ${runtime}`, () => {
    const owner = new Owner()
    let running: Running

    beforeAll(async () => {
      const OWNER_URL = await owner.start()
      running = await startIn(runtime, `${__dirname}/apps/isolates.ts`, {
        env: { OWNER_URL, HANG_TIMEOUT: timeout },
      })
    }, 120_000)
    afterAll(async () => {
      owner.stop()
      await running?.close()
    })
    beforeEach(() => {
      owner.isHanging = false
    })

    const statusOf = (path: string, init?: RequestInit) => statusAt(running.url + path, init)
    const atOnce = (count: number, path: string) => sendAtOnce(count, running.url + path)

    test.each([50, 300])('%i requests at once are limited exactly', async (count) => {
      for (const path of ['one', 'several'])
        expect(await atOnce(count, `/${path}?key=${count}`)).toEqual({ 200: 20, 429: count - 20 })
    })

    test('denials are cached', async () => {
      expect(await atOnce(100, '/cached')).toEqual({ 200: 20, 429: 80 })
      expect(await atOnce(100, '/cached')).toEqual({ 429: 100 })
    })

    test('a request that waits is not woken by another', async () => {
      expect(await atOnce(100, '/waiting')).toEqual({ 200: 100 })
      expect(await atOnce(12, '/places')).toEqual({ 200: 12 })
    })

    test('requests are delayed', async () => {
      expect(await atOnce(300, '/delayed')).toEqual({ 200: 300 })
    })

    test('units of concurrency are renewed while their request runs, and released with it', async () => {
      const held = atOnce(5, '/held?hold=4000')
      await pause(3500) // longer than the ttl of 2 s, and a slice
      expect(await atOnce(5, '/held')).toEqual({ 429: 5 })
      expect(await held).toEqual({ 200: 5 })
      await until('the units are released', async () => (await statusOf('/held')) === 200)
      expect(await atOnce(30, '/held?hold=300')).toEqual({ 200: 5, 429: 25 })
    })

    test('a request that does not count is refunded after its response', async () => {
      for (let i = 0; i < 10; i++) expect(await atOnce(10, '/failed')).toEqual({ 200: 10 })
      expect(await atOnce(10, '/failed?fail=1')).toEqual({ 500: 10 })
      expect(await atOnce(10, '/failed?fail=1')).toEqual({ 500: 10 })
      expect(await statusOf('/failed')).toBe(429)
    })

    test('settings in the store come into force', async () => {
      expect(await atOnce(30, '/settings')).toEqual({ 200: 20, 429: 10 })
      const change = { by: 'test', reason: 'more room' }
      await sharedSettings(owner.memory).change(
        'settings',
        () => ({ limits: { settings: { limit: 25 } } }),
        change,
      )
      await until('the limit is 25', async () => (await statusOf('/settings')) === 200)
      expect((await atOnce(20, '/settings'))[200]).toBe(4)
    })

    test.each(hanging)(
      'a store that hangs lets none of %i requests hang, and decides exactly once it is back',
      async (count) => {
        const hang = (isHanging: boolean) => {
          owner.isHanging = isHanging
        }
        await expectHang({ url: running.url, hang, calls: () => owner.operations }, count)
      },
      300_000,
    )

    test('clients that leave take no other request with them', async () => {
      owner.isHanging = true
      let left = 0
      const leave = async () => {
        const signal = AbortSignal.timeout(20)
        await statusOf('/one?key=left', { signal }).catch(() => left++)
      }
      await Promise.all(Array.from({ length: 30 }, leave))
      expect(left).toBe(30)
      owner.isHanging = false
      expect(await atOnce(300, '/one?key=after')).toEqual({ 200: 20, 429: 280 })
    })

    test('a lease, which requests would share, is refused with the fix', async () => {
      const response = await fetch(`${running.url}/leased`)
      expect(await response.text()).toMatch(
        /TypeError: leased: .* on isolates.*Give the limiter the store itself\./,
      )
    })
  })
}
