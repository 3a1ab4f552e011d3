import { type Range, readRange } from '../../keys/address-list.js'
import type { Embedding } from '../../keys/embedded-ipv4.js'
import { networkText } from '../../keys/network-bounds.js'
import { describeUnknown } from '../../options/fixes.js'
import { throwProblems } from '../../options/problems.js'
import { show, wrongOption } from '../../util/validate.js'
import { type Fields, isObject } from '../../util/values.js'
import { type Check, checkLimits } from './check-limits.js'
import type { SettingsOverride } from './document.js'

const OWNER = 'settings'
const TARGETS = ['identity', 'identityPrefix', 'network'] as const
const EFFECTS = ['limits', 'exempt', 'block'] as const
const FIELDS: readonly string[] = [...TARGETS, ...EFFECTS, 'until']
const FIXES = {
  prefix: 'identityPrefix',
  key: 'identity',
  address: 'network',
  ip: 'network',
  allow: 'exempt',
}

/** The length of the longest key. */
const MAX_IDENTITY = 1024
const MAX_KEYS = 8
/** The length of the longest prefix. */
export const MAX_PREFIX = 64

/** A time with its zone, as in RFC 3339. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/
/** A smaller number is most likely in seconds instead of milliseconds. */
const EARLIEST_MS = 1e11

/** Checks an override. `path` is its place in the document. Throws a `TypeError` that names it. */
export function checkOverride(path: string, value: unknown): asserts value is SettingsOverride {
  if (!isObject(value) || Array.isArray(value))
    throw wrongOption(OWNER, path, 'an object', value, "Write { identity: 'acme', exempt: true }.")
  if (!Object.keys(value).every((name) => FIELDS.includes(name))) {
    const [unknown] = describeUnknown(`${OWNER}: ${path}`, value, FIELDS, FIXES)
    if (unknown !== undefined) throwProblems(OWNER, [unknown.error])
  }
  checkOneOf(
    path,
    value,
    TARGETS,
    "Write identity: 'acme', identityPrefix: 'trial-' or network: '10.0.0.0/8'.",
  )
  checkOneOf(path, value, EFFECTS, 'Write limits, exempt: true or block: true.')
  checkTarget(path, value)
  for (const effect of ['exempt', 'block'])
    if (value[effect] !== undefined && value[effect] !== true)
      throw wrongOption(OWNER, `${path}.${effect}`, 'true', value[effect], 'Write true, or leave it out.')
  const checkNow: Check = (run) => run()
  checkLimits(checkNow, `${path}.limits`, value.limits)
  if (value.until !== undefined) checkEnd(`${path}.until`, value.until)
}

function checkOneOf(path: string, value: Fields, names: readonly string[], fix: string): void {
  const given = names.filter((name) => value[name] !== undefined)
  if (given.length === 1) return
  const problem = given.length === 0 ? 'none' : given.join(' and ')
  throw new TypeError(
    `${OWNER}: ${path} must have exactly one of ${names.join(', ')}, got ${problem}. ${fix}`,
  )
}

function checkTarget(path: string, { identity, identityPrefix, network }: Fields): void {
  if (identity !== undefined) checkIdentity(`${path}.identity`, identity)
  if (identityPrefix !== undefined && !isText(identityPrefix, MAX_PREFIX)) {
    const must = `a string of 1 to ${MAX_PREFIX} characters`
    throw wrongOption(OWNER, `${path}.identityPrefix`, must, identityPrefix)
  }
  if (network !== undefined) rangeOf(path, network)
}

/** Returns the range of a network. Throws a `TypeError` that names the `path` of its override. */
export function rangeOf(path: string, network: unknown, embeddings?: readonly Embedding[]): Range {
  const must = `${OWNER}: ${path}.network must be an IP address or a CIDR range, got ${show(network)}.`
  return readRange(must, network, embeddings)
}

function checkIdentity(path: string, identity: unknown): void {
  const texts: readonly unknown[] = Array.isArray(identity) ? identity : [identity]
  const isValid = texts.length <= MAX_KEYS && texts.every((text) => isText(text, MAX_IDENTITY))
  if (isValid && texts.length > 0) return
  const must = `a string of 1 to ${MAX_IDENTITY} characters, or an array of 1 to ${MAX_KEYS} such strings`
  throw wrongOption(OWNER, path, must, identity, 'Write what the key function returns, as a string.')
}

function isText(value: unknown, maxLength: number): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxLength && !value.includes('\0')
}

function checkEnd(path: string, until: unknown): void {
  if (typeof until === 'number' && Number.isFinite(until) && until >= EARLIEST_MS) return
  if (typeof until === 'string' && TIME.test(until) && Number.isFinite(Date.parse(until))) return
  const must = 'a time with a time zone, or milliseconds since the Unix epoch'
  throw wrongOption(OWNER, path, must, until, "Did you mean until: '2026-12-31T00:00:00Z'?")
}

/** Returns when an override ends, in milliseconds since the Unix epoch; `Infinity` if it has no end. */
export function endOf(until: string | number | undefined): number {
  if (until === undefined) return Number.POSITIVE_INFINITY
  return typeof until === 'number' ? until : Date.parse(until)
}

/** Returns a text that two overrides share only if they have the same target. */
export function targetOf({ identity, identityPrefix, network }: SettingsOverride): string {
  if (identity !== undefined) return `identity ${rawIdentity(identity)}`
  if (identityPrefix !== undefined) return `prefix ${identityPrefix}`
  return `network ${networkText(readRange('', network))}`
}

/** Returns the text by which an identity is looked up. No key contains the separator `'\0'`. */
export function rawIdentity(identity: string | readonly string[]): string {
  return typeof identity === 'string' ? identity : identity.join('\0')
}
