import fc from 'fast-check'
import { fixedWindow } from 'headgate'
import { LimitReplay } from '../../../src/cli/replay/limit-replay.js'
import { WindowCounts } from '../../../src/cli/replay/suggestions.js'

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
