import { foreignHint } from './foreign-hint.js'
import { type Given, type Hint, none, type Reading, SAME, write } from './hint.js'
import { policyHint } from './policy-source.js'

const NO_FIGURES = 'a login guard sends no headers that say how many attempts are left'
const FAILURES_ONLY = 'a guard counts failed logins only, and succeeded says which responses are successes'
/** Options that say which responses count. */
const COUNTING_WORDS: readonly string[] = ['skipSuccessfulRequests', 'skipFailedRequests', 'count']

/** What stands in a login guard for options that it does not share with `rateLimit`. */
const INSTEAD: Readonly<Record<string, (source: string, reading: Reading) => Hint>> = {
  policy: (source, { when }) => {
    const limits = `{ account: ${source.replace('() => ', '')} }`
    return { readings: [{ write: { limits }, ...(when !== undefined && { when }) }] }
  },
  key: (source) => (source === SAME ? accountOrField() : write({ address: source })),
  limits: () =>
    none('the limits of a login guard have names of their own: address, account and accountAndAddress'),
  headers: () => none(NO_FIGURES),
  resetFormat: () => none(NO_FIGURES),
  denyCache: () => none('a login guard counts denials, and never answers them from a cache'),
}

function accountOrField(): Hint {
  return write({ account: '(req) => req.body?.username' }, " for the account, or field: 'username'")
}

/**
 * The hint for a function that recognizes successes. No rule by the status alone is suggested: the answer to
 * a failed login may be a redirect.
 */
function succeededLike(value: unknown): Hint {
  if (typeof value !== 'function') return none(FAILURES_ONLY)
  return write({ succeeded: SAME }, ', with the same function, which returns a boolean and no promise')
}

/** Finds hints for the options of `loginGuard`. */
export function loginHint(option: string, given: Given): Hint | undefined {
  if (option === 'deviceCookie')
    return isObject(given[option]) ? undefined : write({ [option]: '{ secret }' })
  if (option === 'username') return write({ field: "'username'" })
  if (option === 'key') return accountOrField()
  if (COUNTING_WORDS.includes(option)) return none(FAILURES_ONLY)
  if (option === 'requestWasSuccessful') return succeededLike(given[option])
  const own = INSTEAD[option]
  if (own !== undefined && option !== 'limits') {
    if (option === 'policy') return write({ limits: '{ account: policy }' })
    return own(SAME, { write: {} })
  }
  const hint = option === 'limit' || option === 'window' ? policyHint(given) : foreignHint(option, given)
  return hint && translated(hint)
}

/** A hint for `rateLimit` in the options of a login guard, which has neither `limit` nor `window`. */
function translated({ covers: _covers, offer, ...hint }: Hint): Hint {
  const hints = hint.readings.map((reading): Hint => {
    const [[name, source] = ['', '']] = Object.entries(reading.write)
    return (
      INSTEAD[name]?.(source, reading) ?? {
        ...hint,
        readings: [reading],
        ...(offer?.needs.includes('prefix') && { offer }),
      }
    )
  })
  const [first] = hints
  if (first === undefined) return hint
  const note = first.note ?? (first.readings[0]?.write.limits === undefined ? undefined : hint.note)
  return { ...first, readings: hints.flatMap((each) => each.readings), ...(note !== undefined && { note }) }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
