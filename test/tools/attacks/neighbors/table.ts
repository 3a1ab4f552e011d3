import { guessAt, PER_ADDRESS, SITE_ATTACKS, type SiteAttack } from '../adapters/attacks.js'
import type { Site } from '../adapters/login.js'
import { cellsOf, printedTable, type SiteRow } from '../adapters/table.js'
import { type Neighbor, startNeighbor } from './neighbor.js'
import type { Variant } from './variants.js'

/** From how many addresses guesses come. */
const ADDRESSES = 3

/** A guard of a login and of a route that checks no password: a success at one must not clear the other. */
export const TWO_ROUTES: SiteAttack = {
  name: 'two routes',
  guesses: ['POST', '/two/login'],
  between: ['POST', '/two/forgot'],
}

/** What a site beside a neighbor does: how many logins of a user got in, and how many guesses of each attack. */
export interface NeighborRow {
  readonly user: string
  readonly guesses: SiteRow
}

/** Plays a user and attacks on a site beside a neighbor. */
export async function playBeside(variant: Variant, attacks = SITE_ATTACKS): Promise<NeighborRow> {
  const site = await startNeighbor(variant)
  try {
    const statuses = await mistype(site)
    const guesses: [number, number][] = []
    for (const attack of attacks) guesses.push(await guessBoth(site, attack))
    guesses.push(await guessBoth(site, TWO_ROUTES))
    guesses.push(await guessBoth(site, { ...TWO_ROUTES, name: 'two processes' }, site.other))
    return { user: `${statuses.filter((status) => status === 200).length} of ${ROUNDS}`, guesses }
  } finally {
    await site.close()
  }
}

async function guessBoth(
  site: Neighbor,
  attack: SiteAttack,
  other: Site = site,
): Promise<[addresses: number, browser: number]> {
  const fromAddresses = await guessAt(site, attack, ADDRESSES, false, other)
  return [fromAddresses, await guessAt(site, attack, ADDRESSES, true, other)]
}

const ROUNDS = 3

/** A user who mistypes four times before each login; more failures than the account has, unless they clear. */
async function mistype({ port }: Neighbor): Promise<number[]> {
  const statuses: number[] = []
  for (let i = 0; i < ROUNDS; i++)
    for (const password of ['a', 'b', 'c', 'd', 'analytical engine']) {
      const response = await fetch(`http://[::1]:${port}/route/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-from': 'home' },
        body: JSON.stringify({ username: 'ada', password }),
      })
      await response.arrayBuffer()
      statuses.push(response.status)
    }
  return statuses
}

const TITLE =
  `Beside other packages: logins of a user who mistypes four times before each, and how many of ` +
  `${ADDRESSES * PER_ADDRESS} guesses reached the password: from ${ADDRESSES} addresses / from one browser`

/** The table as it is printed. */
export function neighborTable(rows: readonly (readonly [name: string, row: NeighborRow])[]): string {
  const head = [
    'beside',
    'user in',
    ...SITE_ATTACKS.map(({ name }) => name),
    TWO_ROUTES.name,
    'two processes',
  ]
  const lines = rows.map(([name, { user, guesses }]) => [name, user, ...cellsOf(guesses)])
  return printedTable(TITLE, [head, ...lines])
}
