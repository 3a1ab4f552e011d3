import { readRange } from '../keys/address-list.js'
import type { Embedding } from '../keys/embedded-ipv4.js'
import { hostBitsProblem } from '../keys/host-bits.js'
import { type Range, rangeKey } from '../keys/network-key.js'
import { LIMIT_ROWS } from '../limiter/read-limits.js'
import type { SettingsOverride } from '../limiter/settings-document.js'
import { optional, readRows, unchecked } from '../options/option-table.js'
import { readTogether } from '../options/problems.js'
import { keyName, show, wrongOption } from '../util/validate.js'
import { isObject } from '../util/values.js'
import { policyIn } from './limit-settings.js'

const OWNER = 'settings'
/** The most limits that a document may name in one place. A limiter may have as many. */
const MAX_LIMITS = 16
/** The length of the longest string in an identity. */
const MAX_IDENTITY = 1024
const MAX_KEYS = 8
/** The length of the longest prefix. */
const MAX_PREFIX = 64
/** A time with its zone, as in RFC 3339. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/
/** A smaller number is most likely in seconds instead of milliseconds. */
const EARLIEST_MS = 1e11

const EXAMPLE = "Write { limit: 200, window: '1m' }."

/** New numbers, which are checked as far as possible without the limit in the code. */
const NUMBERS = {
  rows: { limit: LIMIT_ROWS.limit, window: LIMIT_ROWS.window, policy: unchecked },
  rules: { change: { from: ['limit', 'window'], read: checkChange } },
  fixes: { ban: "Write policy: 'fixedWindow' and its options next to ban." },
  objectFix: EXAMPLE,
} as const

function checkChange(owner: string, { limit, window }: { limit?: unknown; window?: unknown }): void {
  if (limit !== undefined || window !== undefined) return
  throw new TypeError(`${owner} must be an object with limit, window or policy, got an object. ${EXAMPLE}`)
}

/** Reads limits by name: new numbers, or another policy. */
export function readLimits(owner: string, path: string, limits: unknown): unknown {
  if (!isObject(limits) || Array.isArray(limits) || Object.keys(limits).length > MAX_LIMITS) {
    const must = `an object of at most ${MAX_LIMITS} limits by name`
    throw wrongOption(owner, path, must, limits, "Write { api: { limit: 200, window: '1m' } }.")
  }
  const reads = Object.entries(limits).flatMap(([name, value]) => [
    () => keyName(owner, `a name in ${path}`, name),
    () => {
      if (isObject(value) && value.policy !== undefined) policyIn(`${path}.${name}`, value)
      else readRows(owner, value, NUMBERS, `${path}.${name}`)
    },
  ])
  return readTogether(owner, ...reads)
}

const TARGETS = ['identity', 'identityPrefix', 'network'] as const
const EFFECTS = ['limits', 'exempt', 'block'] as const

const OVERRIDE = {
  rows: {
    identity: optional(readIdentity),
    identityPrefix: optional(readPrefix),
    network: optional(readNetworkText),
    limits: optional(readLimits),
    exempt: optional(readTrue),
    block: optional(readTrue),
    until: readEnd,
  },
  rules: { target: { from: [...TARGETS, ...EFFECTS], read: readTarget } },
  fixes: {
    prefix: 'identityPrefix',
    key: 'identity',
    address: 'network',
    ip: 'network',
    allow: 'exempt',
  },
  objectFix: "Write { identity: 'acme', exempt: true }.",
} as const

/**
 * Reads when an override ends, and its target as a text. Two overrides have the same text only if they have
 * the same target. `path` is the place of the override in the document, which a `TypeError` names.
 */
export function readOverride(path: string, override: unknown): { target: string; until: number } {
  const { target, until } = readRows(OWNER, override, OVERRIDE, path)
  return { target, until }
}

function readTarget(owner: string, read: Readonly<Record<string, unknown>>): string {
  checkOneOf(
    owner,
    read,
    TARGETS,
    "Write identity: 'acme', identityPrefix: 'trial-' or network: '10.0.0.0/8'.",
  )
  checkOneOf(owner, read, EFFECTS, 'Write limits, exempt: true or block: true.')
  const [target] = TARGETS.filter((name) => read[name] !== undefined)
  return `${target} ${read[String(target)]}`
}

function checkOneOf(
  owner: string,
  read: Readonly<Record<string, unknown>>,
  names: readonly string[],
  fix: string,
): void {
  const given = names.filter((name) => read[name] !== undefined)
  if (given.length === 1) return
  const problem = given.length === 0 ? 'none' : given.join(' and ')
  throw new TypeError(`${owner} must have exactly one of ${names.join(', ')}, got ${problem}. ${fix}`)
}

function readIdentity(owner: string, path: string, identity: unknown): string {
  const texts: readonly unknown[] = Array.isArray(identity) ? identity : [identity]
  const isValid = texts.length <= MAX_KEYS && texts.every((text) => isText(text, MAX_IDENTITY))
  if (isValid && texts.length > 0) return rawIdentity(texts as readonly string[])
  const must = `a string of 1 to ${MAX_IDENTITY} characters, or an array of 1 to ${MAX_KEYS} such strings`
  throw wrongOption(owner, path, must, identity, 'Write what the key function returns, as a string.')
}

function readPrefix(owner: string, path: string, prefix: unknown): string {
  if (isText(prefix, MAX_PREFIX)) return prefix
  throw wrongOption(owner, path, `a string of 1 to ${MAX_PREFIX} characters`, prefix)
}

/** Returns whether an identity can have such a text. None contains NUL or half a surrogate pair. */
function isText(value: unknown, maxLength: number): value is string {
  if (typeof value !== 'string' || value === '' || value.length > maxLength) return false
  return !value.includes('\0') && value.isWellFormed()
}

/**
 * Returns a text that equal networks share. Throws a `TypeError` if its author may have meant one address.
 */
function readNetworkText(owner: string, path: string, network: unknown): string {
  const problem = hostBitsProblem(network)
  if (problem !== undefined) throw new TypeError(`${owner}: ${path} ${problem}`)
  const range = readNetwork(`${owner}: ${path}`, network)
  return `${rangeKey(range)}/${range[1]}`
}

function readTrue(owner: string, path: string, value: unknown): true {
  if (value === true) return true
  throw wrongOption(owner, path, 'true', value, 'Write true, or leave it out.')
}

/** Returns when an override ends, in milliseconds since the Unix epoch; `Infinity` if it has no end. */
function readEnd(owner: string, path: string, until: unknown): number {
  if (until === undefined) return Number.POSITIVE_INFINITY
  if (typeof until === 'number' && Number.isFinite(until) && until >= EARLIEST_MS) return until
  const endMs = typeof until === 'string' && TIME.test(until) ? Date.parse(until) : Number.NaN
  if (Number.isFinite(endMs)) return endMs
  const must = 'a time with a time zone, or milliseconds since the Unix epoch'
  throw wrongOption(owner, path, must, until, "Did you mean until: '2026-12-31T00:00:00Z'?")
}

/** Returns the range of a network. Throws a `TypeError` that names its `place`. */
export function readNetwork(place: string, network: unknown, embeddings?: readonly Embedding[]): Range {
  const must = `${place} must be an IP address or a CIDR range, got ${show(network)}.`
  return readRange(must, network, embeddings)
}

/** Returns when a valid override ends. */
export function endOf({ until }: SettingsOverride): number {
  return readEnd(OWNER, 'until', until)
}

/** Returns the text by which an identity is looked up. No part contains the separator `'\0'`. */
export function rawIdentity(identity: string | readonly string[]): string {
  return typeof identity === 'string' ? identity : identity.join('\0')
}
