import { LIMIT_ROWS } from '../limiter/read-limits.js'
import type { SettingsOverride } from '../limiter/settings-document.js'
import { optional, readRows, unchecked } from '../options/option-table.js'
import { readTogether } from '../options/problems.js'
import { keyName, wrongOption } from '../util/validate.js'
import { isObject } from '../util/values.js'
import { policyIn } from './limit-settings.js'
import { readIdentity, readNetworkText, readPrefix, readStoredIdentity } from './read-target.js'

const OWNER = 'settings'
/** The most limits that a document may name in one place. A limiter may have as many. */
const MAX_LIMITS = 16
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

/** What says whom an override is for. */
export const TARGETS = ['identity', 'storedIdentity', 'identityPrefix', 'network'] as const
const EFFECTS = ['limits', 'exempt', 'block'] as const

const OVERRIDE = {
  rows: {
    identity: optional(readIdentity),
    storedIdentity: optional(readStoredIdentity),
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
    hash: 'storedIdentity',
    address: 'network',
    ip: 'network',
    allow: 'exempt',
  },
  objectFix: "Write { identity: 'acme', exempt: true }.",
} as const

/**
 * Reads when an override ends, and its target as a text, such as `overrides[identity="acme"]`. Two overrides
 * have the same text if and only if they have the same target. `path` is the place of the override in the
 * document, which a `TypeError` names.
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
  return `overrides[${target}=${JSON.stringify(read[String(target)])}]`
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

/** Returns when a valid override ends. */
export function endOf({ until }: SettingsOverride): number {
  return readEnd(OWNER, 'until', until)
}
