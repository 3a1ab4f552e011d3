import { guessAt, type SiteAttack } from './attacks.js'
import { nestSites } from './nest.js'

/** Guesses go to one process, and what checks no password to another one, which has seen no login. */
const ATTACK: SiteAttack = {
  name: 'two controllers',
  guesses: ['POST', '/other/login'],
  between: ['POST', '/two/forgot'],
}

test.each(nestSites)(
  'on $name, a guard of two controllers takes no success of the other one for a login',
  async ({ start }) => {
    const site = await start()
    try {
      expect(await guessAt(site, ATTACK, 3, false)).toBe(10)
      expect(await guessAt(site, ATTACK, 3, true)).toBe(5)
    } finally {
      await site.close()
    }
  },
  120_000,
)
