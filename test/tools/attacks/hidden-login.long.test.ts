import { guessHidden, HIDDEN_LOGINS } from './hidden-login.js'

/**
 * No request shows a process that a wrapper hides the guard in a route that only another process has served.
 * There `path` is needed; without it, successes clear what they may within an hour.
 */
test.each(Object.entries(HIDDEN_LOGINS))(
  'on %s, a route that always succeeds clears little in a process that has seen no login, and nothing with path',
  async (_name, start) => {
    expect(await guessHidden(start)).toEqual([
      [10, 5],
      [42, 41],
    ])
    expect(await guessHidden(start, '/two/login')).toEqual([
      [10, 5],
      [10, 5],
    ])
  },
)
