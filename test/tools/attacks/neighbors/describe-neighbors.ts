import { SITE_ATTACKS } from '../adapters/attacks.js'
import { playBeside } from './table.js'
import type { Variant } from './variants.js'

/** Each attack gets what several addresses have, or one browser. */
const LIMITED = [10, 5] as const

/** They do not read the body of a GET request, which is then no guess. */
const WITHOUT_GET: readonly Variant['framework'][] = ['fastify', 'hono', 'nest on fastify']

/** Defines the tests of a user and of attacks beside neighbors, each with the real package in its own process. */
export function describeNeighbors(variants: readonly Variant[], attacks = SITE_ATTACKS): void {
  test.each(variants)(
    '$name hides no success of a user, and buys no guesses',
    async (variant) => {
      const limitOf = (name: string) =>
        name === 'by GET' && WITHOUT_GET.includes(variant.framework) ? [0, 0] : LIMITED
      const guesses = [...attacks.map(({ name }) => limitOf(name)), LIMITED, LIMITED]
      expect(await playBeside(variant, attacks)).toEqual({ user: '3 of 3', guesses })
    },
    240_000, // npm may have to fetch the packages
  )
}
