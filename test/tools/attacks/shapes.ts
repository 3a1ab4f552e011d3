import { accountAt, LEAKED, OWN, VICTIM } from './accounts.js'
import { type Attack, type Guess, guessEvenly } from './attack.js'

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const ADDRESS = '203.0.113.9'

/** Another address for each number. */
export function addressAt(index: number): string {
  return `203.${index >> 16}.${(index >> 8) & 255}.${index & 255}`
}

export function list(count: number, guessOf: (index: number) => Guess): Guess[] {
  return Array.from({ length: count }, (_, i) => guessOf(i))
}

const OTHER_USER = accountAt(100)

/**
 * The four shapes: one or many addresses, one or many accounts; and a guesser with an account of their own.
 */
export const shapes: readonly Attack[] = [
  {
    name: 'one address, one account, 1 hour',
    run: (stage) =>
      guessEvenly(
        stage,
        list(1000, () => ({ account: VICTIM, from: ADDRESS })),
        { overMs: HOUR_MS },
      ),
  },
  {
    name: 'one address, one account, one every 3 minutes, 6 hours',
    run: (stage) =>
      guessEvenly(
        stage,
        list(120, () => ({ account: VICTIM, from: ADDRESS })),
        { overMs: 6 * HOUR_MS },
      ),
  },
  {
    name: 'one address, 1000 accounts, one leaked password, 1 hour',
    user: OTHER_USER,
    run: (stage) =>
      guessEvenly(
        stage,
        list(1000, (i) => ({ account: accountAt(i), from: ADDRESS, password: LEAKED })),
        { overMs: HOUR_MS },
      ),
  },
  {
    name: '500 addresses, one account, 1 hour',
    run: (stage) =>
      guessEvenly(
        stage,
        list(500, (i) => ({ account: VICTIM, from: addressAt(i) })),
        { overMs: HOUR_MS },
      ),
  },
  {
    name: '250 addresses, 250 accounts, 1 hour',
    user: OTHER_USER,
    run: (stage) =>
      guessEvenly(
        stage,
        list(500, (i) => {
          const round = Math.floor(i / 250)
          const guess = { account: accountAt(i % 250), from: addressAt((i + 125 * round) % 250) }
          return round === 1 ? { ...guess, password: LEAKED } : guess
        }),
        { overMs: HOUR_MS },
      ),
  },
  {
    name: 'own logins between, one account, 1 hour',
    run: (stage) =>
      guessEvenly(
        withOwnLogins(stage),
        list(200, () => ({ account: VICTIM, from: ADDRESS })),
        { overMs: HOUR_MS },
      ),
  },
  {
    name: 'own logins between, 200 accounts, one leaked password',
    user: OTHER_USER,
    run: (stage) =>
      guessEvenly(
        withOwnLogins(stage),
        list(200, (i) => ({ account: accountAt(i), from: ADDRESS, password: LEAKED })),
        { overMs: HOUR_MS },
      ),
  },
]

/** The guesser logs in to an account of her own after each guess, from the same address. */
function withOwnLogins(stage: Parameters<Attack['run']>[0]): Parameters<Attack['run']>[0] {
  return {
    ...stage,
    async guess(guess) {
      const answer = await stage.guess(guess)
      await stage.logIn(OWN.account, guess.from)
      return answer
    },
  }
}
