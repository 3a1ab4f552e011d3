import { METHOD_SITES, playWay, WAYS } from './methods.js'

describe.each(Object.entries(METHOD_SITES))('on %s', (_name, start) => {
  test.each(WAYS)(
    'logins by $name get in by succeeded, and nothing that a guesser sends between buys guesses',
    async (way) => {
      expect(await playWay(start, way)).toEqual({ user: '3 of 3', guesses: [10, 10, 10, 10, 10, 10] })
    },
  )
})
