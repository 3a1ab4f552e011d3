import { guessAt, passwordOf, VICTIM } from './accounts.js'
import { type Answer, type Hold, type Site, startSite } from './site.js'

/** One guess at an account. */
export interface Guess {
  readonly account: string
  /** `X-Forwarded-For` as it arrives at the site, whose last address is the guesser's. */
  readonly from: string
  /** Default: the first of the attacker's list that was not found wrong yet. */
  readonly password?: string
  /** The form instead of the plain one, where the field does not simply hold the account. */
  readonly form?: Form
  readonly hangsUp?: boolean
  readonly hold?: Hold
  /** Default: `/login`, which answers by status. See `Attempt`; `/…/login` answers by redirects. */
  readonly path?: string | undefined
  readonly cookie?: string | undefined
}

/** A body, ready to be sent, for a password. */
export type Form = (password: string) => { readonly type: string; readonly body: string }

/** What an attack may do. Its clock moves only where it says so. */
export interface Stage {
  readonly site: Site
  guess(guess: Guess): Promise<Answer>
  /** A login with the right password, which is not counted as a guess. */
  logIn(account: string, from: string, options?: { path?: string; hold?: Hold }): Promise<Answer>
  /** The real user tries once, from an address of their own, with the right password. */
  userTries(options?: { readonly hasNewBrowser: boolean }): Promise<void>
}

export interface Attack {
  readonly name: string
  /** Which account the real user has. Default: the victim's. */
  readonly user?: string
  /** Whether the site believes the proxy in front (`trust proxy` 1). Default true. */
  readonly trustsProxy?: boolean
  run(stage: Stage): Promise<void>
}

export interface Outcome {
  readonly guesses: number
  readonly reached: number
  /** Accounts whose password was guessed. */
  readonly lost: number
  /** How often `onLockout` was called. */
  readonly lockouts: number
  readonly userTries: number
  readonly userIn: number
  /** How often guesses were answered with a status; 0 = hung up before. */
  readonly answers: Readonly<Record<number, number>>
}

const USER_ADDRESS = { forwarded: '198.51.100.7', local: '127.0.0.2' }

/** The form as a browser sends it. */
export function form(username: string): Form {
  return (password) => ({
    type: 'application/x-www-form-urlencoded',
    body: new URLSearchParams({ username, password }).toString(),
  })
}

/** Plays an attack on a site of its own, on which the user has logged in before. */
export async function play(attack: Attack, hasCookies: boolean): Promise<Outcome> {
  const { user = VICTIM, trustsProxy = true } = attack
  const site = await startSite({ hasCookies, trustsProxy })
  const answers: Record<number, number> = {}
  const places = new Map<string, number>()
  let guesses = 0
  let userTries = 0
  let userIn = 0
  let userCookie: string | undefined

  async function guess({ account, from, password, form: filled = form(account), ...rest }: Guess) {
    const { hangsUp = false, hold, path, cookie } = rest
    const place = places.get(account) ?? 0
    const { type, body } = filled(password ?? guessAt(place))
    guesses++
    const sent = { by: 'guesser', type, body, forwarded: from, hangsUp, hold, path, cookie } as const
    const answer = await site.send(sent)
    if (answer.status === 401) places.set(account, place + 1)
    answers[answer.status] = (answers[answer.status] ?? 0) + 1
    return answer
  }

  function logIn(account: string, from: string, options = {}): Promise<Answer> {
    const { type, body } = form(account)(passwordOf(account))
    return site.send({ by: 'user', type, body, forwarded: from, ...options })
  }

  async function visit(): Promise<boolean> {
    const { type, body } = form(user)(passwordOf(user))
    const { status, cookie } = await site.send({
      by: 'user',
      type,
      body,
      cookie: userCookie,
      ...USER_ADDRESS,
    })
    if (status === 200) userCookie = cookie
    return status === 200
  }

  async function userTriesOnce({ hasNewBrowser } = { hasNewBrowser: false }): Promise<void> {
    userTries++
    if (hasNewBrowser) userCookie = undefined
    if (await visit()) userIn++
  }

  try {
    if (!(await visit())) throw new Error('The user cannot log in before the attack.')
    await attack.run({ site, guess, logIn, userTries: userTriesOnce })
    const { reached, lost, lockedOut } = site
    return { guesses, reached, lost: lost.size, lockouts: lockedOut.length, userTries, userIn, answers }
  } finally {
    await site.close()
  }
}

/** Guesses one after the other, spread evenly over a time in which the user tries now and then. */
export async function guessEvenly(
  stage: Stage,
  guesses: readonly Guess[],
  { overMs, userTries = 10 }: { readonly overMs: number; readonly userTries?: number },
): Promise<void> {
  const halfMs = overMs / guesses.length / 2
  const share = guesses.length / userTries
  const turns = new Set(Array.from({ length: userTries }, (_, i) => Math.floor((i + 0.5) * share)))
  for (const [i, guess] of guesses.entries()) {
    await stage.guess(guess)
    stage.site.advance(halfMs)
    if (turns.has(i)) await stage.userTries()
    stage.site.advance(halfMs)
  }
}
