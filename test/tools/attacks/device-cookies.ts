import { TWIN, VICTIM } from './accounts.js'
import { type Attack, form, type Guess, guessEvenly, type Stage } from './attack.js'
import { ADDRESS, addressAt, HOUR_MS, list } from './shapes.js'

/** Who shows device cookies that should be worth nothing. */
export const deviceCookies: readonly Attack[] = [
  {
    name: '20 stockpiled device cookies after a changed password',
    async run(stage) {
      const cookies: (string | undefined)[] = []
      for (let i = 0; i < 20; i++) cookies.push((await stage.logIn(VICTIM, addressAt(i))).cookie)
      // The password that was known then is not among the first hundred guesses: it counts as changed.
      const guesses = list(400, (i) => ({ account: VICTIM, from: addressAt(i), cookie: cookies[i % 20] }))
      await guessEvenly(stage, guesses, { overMs: 20 * HOUR_MS, userTries: 0 })
      await stage.userTries({ hasNewBrowser: true })
    },
  },
  {
    name: 'device cookies of another guard with the same secret',
    run: (stage) =>
      guessEvenly(
        withForeignCookies(stage),
        list(300, () => ({ account: VICTIM, from: ADDRESS })),
        { overMs: HOUR_MS },
      ),
  },
  {
    name: 'owner of a name in another case, with its device cookie',
    async run(stage) {
      const cookie = await twinsCookie(stage)
      // Every other guess shows it: a known device would have guesses of its own besides those of strangers.
      const guesses = list(500, (i) => ({ ...guessAsTyped(i), cookie: i % 2 === 0 ? cookie : undefined }))
      await guessEvenly(stage, guesses, { overMs: HOUR_MS })
    },
  },
  {
    name: 'owner of a name in another case, logging in between',
    run: (stage) => guessEvenly(withTwinsLogins(stage), list(200, guessAsTyped), { overMs: HOUR_MS }),
  },
]

/** The form of an application to which the victim and the twin are two accounts. */
const AS_TYPED = '/login-as-typed'

function guessAsTyped(index: number): Guess {
  return { account: VICTIM, from: addressAt(index), path: AS_TYPED }
}

/**
 * Logs in once to the account whose name is the victim's in another case. Returns the cookie under its own
 * name and under that of the victim's, in case the guesser knows that one.
 */
async function twinsCookie(stage: Stage): Promise<string | undefined> {
  const { status, cookie } = await stage.logIn(TWIN.account, ADDRESS, { path: AS_TYPED })
  if (status !== 200) throw new Error('The twin cannot log in before the attack.')
  const { cookie: victims } = await stage.logIn(VICTIM, ADDRESS, { path: AS_TYPED })
  if (cookie === undefined || victims === undefined) return undefined
  const [name] = victims.split('=')
  const [, proof] = cookie.split('=')
  return `${cookie}; ${name}=${proof}`
}

/** The guesser logs in to that account after each guess, as a stranger, whose success clears strangers. */
function withTwinsLogins(stage: Stage): Stage {
  return {
    ...stage,
    async guess(guess) {
      const answer = await stage.guess(guess)
      await stage.logIn(TWIN.account, guess.from, { path: AS_TYPED })
      return answer
    },
  }
}

/**
 * The guesser logs in as the victim's namesake at a public form before each guess, and shows that cookie.
 */
function withForeignCookies(stage: Stage): Stage {
  return {
    ...stage,
    async guess(guess) {
      const { type, body } = form(guess.account)('any')
      const { cookie } = await stage.site.send({ by: 'guesser', path: '/public', type, body })
      return stage.guess({ ...guess, cookie })
    },
  }
}
