import { ATTACKS } from './attacks.js'
import { playBoth } from './table.js'

/**
 * Attacks of each kind, and how many guesses reach the handler. All of them, with their exact
 * figures, are in `npm run test:long`.
 */
const SAMPLE: readonly (readonly [name: string, reached: number])[] = [
  ['100 at once, one address, one account', 5],
  ['100 at once, 100 addresses, one account', 10],
  ['100 hung up before the answer, one address', 5],
  ['three spellings of a path that redirects, new addresses', 10],
  ['spellings of one name, new addresses', 10],
  ['arrays and objects for a name, new addresses', 0],
]

test.each(SAMPLE)('of the attack "%s", %d guesses reach the handler', async (name, reached) => {
  const attack = ATTACKS.find((each) => each.name === name)
  if (attack === undefined) throw new Error(`There is no attack "${name}".`)
  const { without, withCookies } = await playBoth(attack)
  expect([without.reached, withCookies.reached]).toEqual([reached, reached])
  expect([without.lost, withCookies.lost]).toEqual([0, 0])
  expect(withCookies.userIn).toBe(withCookies.userTries)
})
