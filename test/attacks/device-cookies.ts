import { VICTIM } from './accounts.js'
import { type Attack, form, paced, type Stage } from './attack.js'
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
      await paced(stage, guesses, { overMs: 20 * HOUR_MS, userTries: 0 })
      await stage.userTries({ hasNewBrowser: true })
    },
  },
  {
    name: 'device cookies of another guard with the same secret',
    run: (stage) =>
      paced(
        withForeignCookies(stage),
        list(300, () => ({ account: VICTIM, from: ADDRESS })),
        { overMs: HOUR_MS },
      ),
  },
]

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
