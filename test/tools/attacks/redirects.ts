import { guessAt, VICTIM } from './accounts.js'
import type { Attack } from './attack.js'
import { addressAt } from './shapes.js'

/** Spellings of `/en/login` that a route `/:lang/login` takes, and that read as other paths once decoded. */
const PATHS = ['/%2565n/login', '/en%3Fx/login', '/..%2Fen/login']

/** A login that redirects failures to a path with what the guesser wrote into it. */
export const redirects: readonly Attack[] = [
  {
    name: 'three spellings of a path that redirects, new addresses',
    async run(stage) {
      for (let i = 0; i < 100; i++) {
        await stage.guess({
          account: VICTIM,
          from: addressAt(i),
          password: guessAt(i),
          path: PATHS[i % PATHS.length],
        })
      }
      await stage.userTries()
    },
  },
]
