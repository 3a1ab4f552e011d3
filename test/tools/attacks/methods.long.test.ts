import { METHOD_SITES, playWay, WAYS } from './methods.js'

describe.each(Object.entries(METHOD_SITES))('on %s', (_name, start) => {
  test.each(WAYS)(
    'succeeded lets logins by $name in, and nothing that a guesser sends in between gains guesses',
    async (way) => {
      expect(await playWay(start, way)).toEqual({ user: '3 of 3', guesses: [10, 10, 10, 10, 10, 10] })
    },
  )
})
