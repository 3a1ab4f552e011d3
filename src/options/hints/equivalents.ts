import { addressList } from '../../keys/address-list.js'
import { byIp } from '../../keys/by-ip.js'
import { keyNameLike } from '../../util/validate.js'
import { advise, type Given, type Hint, none, type Reading, SAME, write } from './hint.js'
import { policyHint, policySource } from './policy-source.js'
import { isDynamic, noQuota } from './quota.js'
import { placeholderNote, toNumber } from './source.js'

/**
 * The nearest equivalent of an option for the value given; `undefined` where the option means the same here.
 */
export type Equivalent = (value: unknown, given: Given) => Hint | undefined

export const isFunction = (value: unknown) => typeof value === 'function'
const isTrue = (value: unknown) => value !== undefined && value !== false

export const key: Equivalent = () => write({ key: SAME })
/** A function in another package's form, and in ours. */
export const keyOfRequest: Equivalent = () => write({ key: SAME }, ', which is called with (req)')
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
    return none('byIp groups all IPv6 addresses by one prefix length: byIp({ ipv6Prefix: 56 })')
  const length = toNumber(bits) ?? 128
  return write({ key: `byIp({ ipv6Prefix: ${Math.min(128, Math.max(1, length))} })` })
}
export const skip: Equivalent = () => write({ skip: SAME }, ', which is called with (req, res)')

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
  const isSkipping = skipFailedRequests === true || skipSuccessfulRequests === true
  if (!isSkipping && requestWasSuccessful !== undefined)
    return none('it has no effect without skipSuccessfulRequests or skipFailedRequests')
  if (isFunction(requestWasSuccessful)) {
    const call = skipSuccessfulRequests === true ? '!(await requestWasSuccessful(req, res))' : ''
    return write({ count: call ? `async (req, res) => ${call}` : 'requestWasSuccessful' })
  }
  if (skipFailedRequests === true) return write({ count: "'successful'" })
  return write({ count: skipSuccessfulRequests === true ? "'failed'" : "'all'" })
}

/** A prefix keeps applications apart, a name keeps limiters apart; other packages have one word for both. */
export const prefix: Equivalent = (value, { points, duration, storeClient }) => {
  const text = `'${keyNameLike(value)}'`
  if (points !== undefined || duration !== undefined || storeClient !== undefined)
    return {
      ...write({ name: text }, ', which keeps limiters apart'),
      offer: { needs: ['prefix'], text: ', or prefix to keep applications apart' },
    }
  const whens = ['to keep applications apart', 'to keep limiters apart'] as const
  return {
    readings: [
      { write: { prefix: text }, when: whens[0] },
      { write: { name: text }, when: whens[1] },
    ],
  }
}

/** The policy that these options mean, with a ban where one of them asks for it. */
export const policy: Equivalent = (_value, given) => policyHint(given)

export const blockDuration: Equivalent = (value, given) => {
  if (isFunction(value))
    return none("the times of a ban are fixed: ban(policy, { after, within, for: '15m' })")
  return (toNumber(value) ?? 0) > 0
    ? policyHint(given)
    : advise('Leave it out: nobody is blocked unless the policy is a ban.')
}

export const banAfter: Equivalent = (value, given) =>
  (toNumber(value) ?? 0) >= 0
    ? policyHint(given)
    : advise('Leave it out: nobody is banned unless the policy is a ban.')

const LISTED =
  ', where LISTED stands for your own condition, since allow takes an array of addresses and CIDR ranges'

export const list =
  (option: 'allow' | 'block'): Equivalent =>
  (value) => {
    if (isAddressList(value)) return write({ [option]: SAME })
    if (option === 'block')
      return advise(
        'Deny others in a middleware of your own: block holds addresses and CIDR ranges in an array.',
      )
    if (isFunction(value)) return skip(value, {})
    return write({ skip: '(req, res) => LISTED' }, LISTED)
  }

function isAddressList(value: unknown): boolean {
  try {
    addressList('', '', value)
    return true
  } catch {
    return false
  }
}

export const addHeaders: Equivalent = (value, { enableDraftSpec }) => {
  const names = Object.entries((value ?? {}) as object).filter(([name]) => /limit/i.test(name))
  if (names.length > 0 && names.every(([, isOn]) => isOn === false)) return write({ headers: "'none'" })
  const isDraft = enableDraftSpec === true || names.some(([name]) => /^ratelimit/i.test(name))
  return write({ headers: isDraft ? "'draft'" : "'legacy'" })
}

export const throttlers: Equivalent = (value) => {
  const list = (Array.isArray(value) ? value : [value]) as readonly Given[]
  const entries = list.length > 0 ? list.map((each) => ({ ...each })) : [{}]
  const advice = entries.map((each) => noQuota(each)).find((hint) => hint !== undefined)
  if (advice !== undefined) return advice
  const policies = entries.map(policySource)
  const ambiguous = policies.find(({ readings }) => readings.length > 1) ?? policies[0]
  const readings = (ambiguous?.readings ?? []).map(({ when }, at): Reading => {
    const texts = policies.map(({ readings }, i) => {
      const name = keyNameLike(entries[i]?.name ?? `limit-${i + 1}`)
      const call = isDynamic(entries[i] as Given) ? '() => ' : ''
      return `{ name: '${name}', policy: ${call}${(readings[at] ?? readings[0])?.text} }`
    })
    return { write: { limits: `[${texts.join(', ')}]` }, ...(when !== undefined && { when }) }
  })
  return { readings, note: placeholderNote(policies.flatMap(({ sources }) => sources)) }
}

/** Which proxies are believed, where `byIp` takes the same value. */
export const trustProxy: Equivalent = (value) => {
  if (value === false) return advise('Leave it out: without trustProxy no proxy is believed.')
  if (value === true)
    return advise('Give byIp the number of your proxies, byIp({ trustProxy: 1 }): it never trusts everybody.')
  try {
    byIp({ trustProxy: value as never })
    const text = Array.isArray(value) ? `[${value.map(quoted).join(', ')}]` : quoted(value)
    return write({ key: `byIp({ trustProxy: ${text} })` })
  } catch {
    return advise(
      'Give byIp the number of your proxies, such as byIp({ trustProxy: 1 }), or their addresses.',
    )
  }
}

const quoted = (value: unknown) => (typeof value === 'string' ? `'${value}'` : String(value))
