import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { judge } from './judge.js'
import { runTraces } from './run.js'
import { tableOf } from './table.js'
import { peaceful } from './trace.js'
import { attackedLogin, businessApi, scrapedApi } from './traces.js'

const SEEDS = Array.from({ length: 20 }, (_, i) => 100 + i)

test('the kept results are what the command prints', async () => {
  const kept = readFileSync(join(__dirname, '../results/tune.txt'), 'utf8')
  expect(`$ npm run tune\n\n${tableOf(await runTraces(1, true))}`).toBe(kept)
})

test.each([
  ['a public API with a scraper', scrapedApi],
  ['a login with offices and brute force', attackedLogin],
  ['a business API with plans, a batch job and a stolen key', businessApi],
] as const)(
  '%s, drawn in 20 ways: no honest client is denied, and no loud attacker is missed',
  async (_, draw) => {
    const failures: unknown[] = []
    for (const seed of SEEDS) {
      const { honest, attackers, proposal } = await judge(draw(seed))
      const loud = Object.entries(attackers).filter(([name]) => name !== 'slow guessers')
      const missed = loud.reduce((sum, [, { clients, denied }]) => sum + clients - denied, 0)
      if (honest.denied > 0 || missed > 0)
        failures.push({ seed, limit: proposal.limit, denied: honest.denied, missed })
      const calm = await judge(peaceful(draw(seed)))
      if (calm.honest.denied > 0)
        failures.push({ seed, limitWithoutAttack: calm.proposal.limit, denied: calm.honest.denied })
    }
    expect(failures).toEqual([])
  },
)
