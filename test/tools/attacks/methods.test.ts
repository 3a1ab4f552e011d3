import { METHOD_SITES, playWay, WAYS } from './methods.js'

test.each(WAYS)(
  'on Express, succeeded lets logins by $name in, and nothing that a guesser sends in between gains guesses',
  async (way) => {
    const result = await playWay(METHOD_SITES.Express, way)
    expect(result).toEqual({ user: '3 of 3', guesses: [10, 10, 10, 10, 10, 10] })
  },
)
