import { foreignHint } from './foreign-hint.js'
import { explain, type Given, type Hint, rename, SAME, write } from './hint.js'

const NO_FIGURES = explain('a login guard sends no headers that say how many attempts are left')
const FAILURES_ONLY = explain(
  'a guard counts failed logins only, and succeeded says which responses are successes',
)
const ACCOUNT = write({ account: '(req) => req.body?.username' }, " for the account, or field: 'username'")
const LIMITS = write({ limits: '{ account: slidingWindow({ limit, window }) }' })

/** What stands in a login guard for options of `rateLimit`, and for one of other guards. */
const INSTEAD: Readonly<Record<string, Hint>> = {
  limit: LIMITS,
  window: LIMITS,
  policy: write({ limits: '{ account: policy }' }),
  limits: explain(
    'the limits of a login guard have names of their own: address, account and accountAndAddress',
  ),
  key: ACCOUNT,
  count: FAILURES_ONLY,
  headers: NO_FIGURES,
  resetFormat: NO_FIGURES,
  denyCache: explain('a login guard counts denials, and never answers them from a cache'),
  username: write({ field: "'username'" }),
}

/**
 * Finds hints for the options of `loginGuard`. None writes a rule by the status alone: the answer to a
 * failed login may be a redirect.
 */
export function loginHint(option: string, given: Given): Hint | undefined {
  if (Object.hasOwn(INSTEAD, option)) return INSTEAD[option]
  if (option === 'requestWasSuccessful')
    return rename('succeeded', ', which returns a boolean and no promise')
  const hint = foreignHint(option, given)
  const [name = '', source = ''] = Object.entries(hint?.write ?? {})[0] ?? []
  if (name === 'policy') return write({ limits: `{ account: ${source} }` })
  if (name === 'key' && source !== SAME) return write({ address: source })
  return INSTEAD[name] ?? hint
}
