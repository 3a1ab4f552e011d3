import { recordWarnings } from '../../support/warnings.js'
import { CODE_ROUTES, GUESSERS, guessCodes } from './resends.js'

const warnings = recordWarnings()

/** How many of 1,200 guesses in an hour are checked, by who guesses. Without a bound, 50, 1,200 and 1,200 were. */
const CHECKED: Readonly<Record<string, readonly number[]>> = {
  'resends respond with 200': [42, 56, 65],
  'resends respond with 200, and are slow': [40, 54, 63],
  'resends respond with 202': [10, 20, 20],
  'skip exempts resends': [10, 20, 20],
}

test.each(CODE_ROUTES)(
  'of a thousand guesses at a code in an hour, few are checked if $name',
  async (route) => {
    const checked: number[] = []
    for (const guesser of GUESSERS) checked.push(await guessCodes(route, guesser))
    expect(checked).toEqual(CHECKED[route.name])
    const isTold = route.name.includes('200')
    expect(warnings()).toEqual(isTold ? ['HEADGATE_LOGIN_SUCCESSES'] : [])
  },
  60_000,
)
