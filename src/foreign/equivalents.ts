import { keyNameLike } from '../checks.js'
import { type Given, type Hint, none, type Reading, SAME, write } from './hint.js'
import { blockLengths, fixedWindows, isNumber, policyHint, windowLengths } from './quota.js'

/**
 * The nearest equivalent of an option for the value given; `undefined` where the option means the same here.
 */
export type Equivalent = (value: unknown, given: Given) => Hint | undefined

export const isFunction = (value: unknown) => typeof value === 'function'
const isTrue = (value: unknown) => value !== undefined && value !== false

export const key: Equivalent = () => write({ key: SAME })
export const onLimited: Equivalent = () =>
  write({ onLimited: SAME }, ', which is called with (req, res, next, decision)')
export const storeClient: Equivalent = () =>
  write({ store: 'redisStore(client)' }, ', or the store of your database')
/** Stores of express-rate-limit have `increment`, those of @fastify/rate-limit are classes with `incr`. */
export const store: Equivalent = (value, given) => {
  const methods = isFunction(value) ? (value as { prototype?: unknown }).prototype : value
  const { increment, incr } = (methods ?? {}) as Given
  return isFunction(increment ?? incr) ? storeClient(value, given) : undefined
}
export const onStoreError: Equivalent = (allows) =>
  write({ onStoreError: allows === false ? "'deny'" : "'allow'" })
export const ipv6Prefix: Equivalent = (bits) => {
  if (isFunction(bits))
    return none('all IPv6 addresses are grouped by one prefix length: byIp({ ipv6Prefix: 56 })')
  return write({ key: `byIp({ ipv6Prefix: ${isNumber(bits) && bits >= 1 && bits <= 128 ? bits : 128} })` })
}
export const skip: Equivalent = () => write({ skip: SAME })

/**
 * Which headers express-rate-limit sends: the older ones unless they are off, those of the draft where they
 * are on.
 */
export const rateLimitHeaders: Equivalent = (
  _value,
  { headers, legacyHeaders, standardHeaders, draft_polli_ratelimit_headers },
) => {
  const drafts = isTrue(standardHeaders) || isTrue(draft_polli_ratelimit_headers)
  const isLegacy = legacyHeaders !== false && headers !== false
  if (drafts) return write({ headers: isLegacy ? "'both'" : "'draft'" })
  return write({ headers: isLegacy ? "'legacy'" : "'none'" })
}

export const counting: Equivalent = (
  _value,
  { skipFailedRequests, skipSuccessfulRequests, requestWasSuccessful },
) => {
  if (skipFailedRequests === true && skipSuccessfulRequests === true) return write({ skip: '() => true' })
  if (isFunction(requestWasSuccessful))
    return write(
      { count: `(req, res) => res.statusCode ${skipSuccessfulRequests === true ? '>=' : '<'} 400` },
      ', with the condition under which a request counts',
    )
  if (skipFailedRequests === true) return write({ count: "'successful'" })
  return write({ count: skipSuccessfulRequests === true ? "'failed'" : "'all'" })
}

/** A prefix keeps applications apart, a name keeps limiters apart; other packages have one word for both. */
export const prefix: Equivalent = (value, { points, duration, storeClient }) => {
  const text = `'${keyNameLike(value)}'`
  if (points !== undefined || duration !== undefined || storeClient !== undefined)
    return write({ name: text }, ', which keeps limiters apart, or prefix to keep applications apart')
  const whens = ['to keep applications apart', 'to keep limiters apart'] as const
  return {
    readings: [
      { write: { prefix: text }, when: whens[0] },
      { write: { name: text }, when: whens[1] },
    ],
  }
}

/** A fixed window with a ban, for each reading of its length; `terms` are the rest of the ban's options. */
function bans(given: Given, after: number, terms: (window: string) => string): readonly Reading[] {
  const windows = windowLengths(given)
  return fixedWindows(given).map(({ text, ...rest }, i) => {
    const within = windows[i]?.text ?? "'1m'"
    return {
      write: { policy: `ban(${text}, { after: ${after}, within: ${within}, ${terms(within)} })` },
      ...rest,
    }
  })
}

/** The policy that these options mean, with a ban where one of them asks for it. */
export const policy: Equivalent = (_value, given) => {
  const { ban, blockDuration, continueExceeding, exponentialBackoff } = given
  const after = isNumber(ban) && ban > 0 ? ban : 1
  if (exponentialBackoff === true) return { readings: bans(given, after, () => "for: ['1m', '10m', '1h']") }
  if (continueExceeding === true)
    return { readings: bans(given, after, (window) => `for: ${window}, onAttempt: 'restart'`) }
  if (ban !== undefined) return { readings: bans(given, after, (window) => `for: ${window}`) }
  if (!isNumber(blockDuration) || blockDuration === 0) return policyHint(given)
  const readings = blockLengths(given).flatMap(({ text, ...rest }) =>
    bans(given, 1, () => `for: ${text}`).map((reading) => ({ ...reading, ...rest })),
  )
  return { readings }
}

export const blockDuration: Equivalent = (value, given) => {
  if (isFunction(value))
    return none("the times of a ban are fixed: ban(policy, { after, within, for: '15m' })")
  return isNumber(value) && value > 0
    ? policy(value, given)
    : none('nobody is blocked unless the policy is a ban')
}

export const list =
  (option: 'allow' | 'block'): Equivalent =>
  (value) => {
    if (!isFunction(value)) return write({ [option]: SAME })
    return option === 'allow'
      ? skip(value, {})
      : none('block holds addresses, and others are denied in a middleware of your own')
  }

export const addHeaders: Equivalent = (value, { enableDraftSpec }) => {
  const names = Object.entries((value ?? {}) as object).filter(([name]) => /limit/i.test(name))
  if (names.length > 0 && names.every(([, isOn]) => isOn === false)) return write({ headers: "'none'" })
  const isDraft = enableDraftSpec === true || names.some(([name]) => /^ratelimit/i.test(name))
  return write({ headers: isDraft ? "'draft'" : "'legacy'" })
}

export const throttlers: Equivalent = (value) => {
  const list = Array.isArray(value) && value.length > 0 ? (value as Given[]) : [{}]
  const entries = list.map((each, i) => {
    const text = fixedWindows({ ...each })[0]?.text ?? ''
    return `{ name: '${keyNameLike(each.name ?? `limit-${i + 1}`)}', policy: ${text} }`
  })
  return write({ limits: `[${entries.join(', ')}]` })
}
