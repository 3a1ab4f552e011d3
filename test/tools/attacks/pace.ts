import { guessAt, VICTIM } from './accounts.js'
import { type Attack, type Guess, guessEvenly, type Stage } from './attack.js'
import { ADDRESS, addressAt, HOUR_MS, list, MINUTE_MS } from './shapes.js'

/** All at once, slowly, until the lock, and without waiting for the answer. */
export const paces: readonly Attack[] = [
  {
    name: '100 at once, one address, one account',
    run: (stage) => burst(stage, (i) => ({ account: VICTIM, from: ADDRESS, password: guessAt(i + 1) })),
  },
  {
    name: '100 at once, 100 addresses, one account',
    run: (stage) => burst(stage, (i) => ({ account: VICTIM, from: addressAt(i), password: guessAt(i + 1) })),
  },
  {
    name: 'one a minute, one address, 200 minutes',
    run: (stage) =>
      guessEvenly(
        stage,
        list(200, () => ({ account: VICTIM, from: ADDRESS })),
        { overMs: 200 * MINUTE_MS },
      ),
  },
  {
    name: 'one a minute, new addresses, 200 minutes',
    run: (stage) => guessEvenly(stage, list(200, newAddress), { overMs: 200 * MINUTE_MS }),
  },
  {
    name: 'one every 3 minutes, new addresses, 6 hours; a day later',
    async run(stage) {
      await untilLocked(stage)
      await stage.userTries()
    },
  },
  {
    name: 'the same, forgotten by hand; the user has a new browser',
    async run(stage) {
      await untilLocked(stage)
      await stage.site.forget(VICTIM)
      await stage.userTries({ hasNewBrowser: true })
    },
  },
  {
    name: '100 hung up before the answer, one address',
    run: (stage) =>
      guessEvenly(
        stage,
        list(100, () => ({ account: VICTIM, from: ADDRESS, hangsUp: true })),
        { overMs: MINUTE_MS },
      ),
  },
]

async function burst(stage: Stage, guessOf: (index: number) => Guess): Promise<void> {
  await Promise.all(list(100, guessOf).map((guess) => stage.guess(guess)))
  await stage.userTries()
}

function newAddress(index: number): Guess {
  return { account: VICTIM, from: addressAt(index) }
}

async function untilLocked(stage: Stage): Promise<void> {
  await guessEvenly(stage, list(120, newAddress), { overMs: 6 * HOUR_MS, userTries: 0 })
  stage.site.advance(24 * HOUR_MS)
}
