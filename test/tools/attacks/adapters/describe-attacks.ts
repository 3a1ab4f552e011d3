import type { SiteOf } from './login.js'
import { playOn } from './table.js'

/** They do not read the body of a GET request, which is then no guess. */
const WITHOUT_GET = ['Fastify', 'Hono', 'Nest on Fastify']

/** Defines the tests of attacks on a site of each framework. */
export function describeAttacks(sites: readonly SiteOf[]): void {
  test.each(sites)(
    'on $name, no request between guesses and no method buys guesses: several addresses get 10, one browser 5',
    async (site) => {
      const limited = [10, 5]
      const byGet = WITHOUT_GET.includes(site.name) ? [0, 0] : limited
      expect(await playOn(site, 3)).toEqual([limited, limited, limited, byGet, limited])
    },
    120_000, // Nest starts in a process of its own
  )
}
