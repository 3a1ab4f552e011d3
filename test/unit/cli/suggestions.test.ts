import fc from 'fast-check'
import { fixedWindow } from 'headgate'
import { LimitReplay } from '../../../src/cli/replay/limit-replay.js'
import { WindowCounts } from '../../../src/cli/replay/window-counts.js'

const CLIENTS = 3
const requests = fc.array(fc.record({ id: fc.nat(CLIENTS - 1), stepMs: fc.nat(900) }), {
  minLength: CLIENTS,
  maxLength: 200,
})

test.each(['clock', 'first-request'] as const)(
  'a suggested limit denies what it says, and one less would deny too much: windows by %s',
  (startsAt) => {
    fc.assert(
      fc.property(requests, (drawn) => {
        const counts = new WindowCounts(1000, startsAt)
        const timed = drawn.map(({ id, stepMs }, i) => ({ id: i < CLIENTS ? i : id, stepMs, atMs: 1e12 }))
        for (const [i, each] of timed.entries()) each.atMs = (timed[i - 1]?.atMs ?? 1e12) + each.stepMs
        for (const { id, atMs } of timed) counts.add(id, atMs)
        const deniedBy = (limit: number) => {
          const replay = new LimitReplay(fixedWindow({ limit, window: 1000, startsAt }))
          for (const { id, atMs } of timed) replay.decide(id, atMs)
          return { requests: replay.denied, clients: replay.deniedClients }
        }
        const suggestions = counts.suggest(CLIENTS)
        const totals = { requests: timed.length, clients: CLIENTS }
        for (const what of ['requests', 'clients'] as const) {
          for (const { share, limit, denied } of suggestions[what]) {
            expect(denied).toBe(deniedBy(limit)[what])
            expect(denied).toBeLessThanOrEqual(share * totals[what])
            if (limit > 1) expect(deniedBy(limit - 1)[what]).toBeGreaterThan(share * totals[what])
          }
        }
      }),
    )
  },
)

const apartRequests = fc.array(fc.tuple(fc.nat(39), fc.nat(3000)), { minLength: 100, maxLength: 300 })

test.each([
  ['with all counts', undefined],
  ['with few of them', 8],
])('without the largest clients, a suggested limit denies what it says, %s', (_, maxCounts) => {
  fc.assert(
    fc.property(apartRequests, fc.integer({ min: 1300, max: 1500 }), (drawn, flood) => {
      const counts = new WindowCounts(1000, 'clock', maxCounts)
      const every = Array.from({ length: 40 }, (_each, id): [number, number] => [id, 0])
      const requests = [
        ...every,
        ...drawn,
        ...Array.from({ length: flood }, (): [number, number] => [0, 1500]),
      ]
      requests.sort(([, a], [, b]) => a - b)
      for (const [id, atMs] of requests) counts.add(id, 1e12 + atMs)
      const { apart } = counts.suggest(40)
      const ids = apart?.largest.map(({ id }) => id) ?? []
      expect(ids[0]).toBe(0)
      const others = requests.filter(([id]) => !ids.includes(id))
      for (const { limit, denied } of apart?.requests ?? []) {
        const replay = new LimitReplay(fixedWindow({ limit, window: 1000 }))
        for (const [id, atMs] of others) replay.decide(id, 1e12 + atMs)
        expect(denied).toBe(replay.denied)
      }
    }),
    { numRuns: 50 },
  )
})
