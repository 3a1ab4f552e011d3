import { fixedWindow } from '../../policies/fixed-window.js'
import type { Policy } from '../../policies/policy.js'
import { slidingWindow } from '../../policies/sliding-window.js'
import { tokenBucket } from '../../policies/token-bucket.js'
import { messageOf } from '../../stores/store-error.js'
import { durationText } from '../../util/durations.js'
import type { TimeZone } from '../../util/time-zone.js'
import { didYouMean, readArguments, readDuration } from '../arguments.js'
import { UsageError } from '../failures.js'
import type { ProxyTest } from '../log/client-address.js'
import type { OwnNames } from '../log/field-names.js'
import { parseTemplate, type Template } from '../log/format/template.js'
import { readFieldNames } from './fields-option.js'
import type { NeededField } from './file-check.js'
import type { KeyPart } from './identity.js'
import { readProxies } from './proxies.js'
import { type RouteFilter, routeFilter } from './route-filter.js'
import { readZone } from './zone-option.js'

/** What a command line asks for. */
export interface ReplaySettings {
  /** Paths of logs, in order; `-` is the standard input. */
  readonly files: readonly string[]
  /** One for each limit; none if only suggestions are wanted. */
  readonly policies: readonly Policy[]
  /** The windows whose limits are suggested, if any. */
  readonly suggest: { readonly windowMs: number; readonly startsAt: WindowStart } | undefined
  readonly keys: readonly KeyPart[]
  /** The option `--key` as it was given. */
  readonly keyText: string
  readonly isWanted: RouteFilter
  /** How lines are written, if `--format` says it; otherwise their format is recognized. */
  readonly format: Template | undefined
  /** Which addresses are trusted proxies', if `--trust-proxy` says so; otherwise the log decides. */
  readonly isProxy: ProxyTest | undefined
  /** What each log must have, because a filter or a key reads it. */
  readonly needs: readonly NeededField[]
  /** The fields that `--fields` names. */
  readonly names: OwnNames
  /** The zone of times that name none. */
  readonly timeZone: TimeZone
  readonly json: boolean
  /** Where the report is written as a page, if at all. */
  readonly html: string | undefined
}

type WindowStart = 'clock' | 'first-request'
type Make = (limit: number, window: string) => Policy

/** The policies by name. The token bucket is what `rateLimit` makes of `limit` and `window`. */
const POLICIES = {
  'token-bucket': (limit, window) => tokenBucket({ capacity: limit, refill: limit, every: window }),
  'sliding-window': (limit, window) => slidingWindow({ limit, window }),
  'fixed-window': (limit, window) => fixedWindow({ limit, window }),
  'first-request': (limit, window) => fixedWindow({ limit, window, startsAt: 'first-request' }),
} satisfies Record<string, Make>

type PolicyName = keyof typeof POLICIES

const MAX_LIMITS = 8
/** Its ten slices are of whole milliseconds. */
const MIN_SLIDING_MS = 10

/** The policies whose windows do not depend on the limit, so that one pass counts for all limits. */
const COUNTABLE: Partial<Record<PolicyName, WindowStart>> = {
  'fixed-window': 'clock',
  'first-request': 'first-request',
}

const OPTIONS = {
  limit: { type: 'string', multiple: true },
  window: { type: 'string' },
  policy: { type: 'string' },
  key: { type: 'string' },
  only: { type: 'string', multiple: true },
  format: { type: 'string' },
  'trust-proxy': { type: 'string' },
  fields: { type: 'string' },
  'time-zone': { type: 'string' },
  suggest: { type: 'boolean' },
  json: { type: 'boolean' },
  html: { type: 'string' },
} as const

/** Returns what the arguments ask for. Throws a `UsageError` for the first that is wrong. */
export function parseReplayArguments(args: readonly string[]): ReplaySettings {
  const { values, positionals: files } = readArguments(args, OPTIONS)
  if (files.length === 0) throw new UsageError('no log given: name a file, or write - for standard input')
  if (files.filter((file) => file === '-').length > 1) throw new UsageError('- can be given only once')
  const window = readDuration('window', values.window, '1m')
  const kind = readPolicyName(values.policy)
  const startsAt = values.suggest === true ? countableStart(kind) : undefined
  const limits = readLimits(values.limit ?? [], startsAt !== undefined)
  const keyText = values.key ?? 'ip'
  const keys = keyText.split(',').map(readKeyPart)
  const routes = values.only ?? []
  return {
    files,
    policies: limits.map((limit) => makePolicy(kind, limit, window)),
    suggest: startsAt && { windowMs: window, startsAt },
    keys,
    keyText,
    isWanted: routeFilter(routes),
    needs: neededFields(routes, keys),
    names: readFieldNames(values.fields),
    timeZone: readZone(values['time-zone']),
    format: values.format === undefined ? undefined : parseTemplate(values.format),
    isProxy: values['trust-proxy'] === undefined ? undefined : readProxies(values['trust-proxy']),
    json: values.json ?? false,
    html: readHtmlPath(values.html),
  }
}

function readLimits(texts: readonly string[], isOptional: boolean): readonly number[] {
  if (texts.length === 0 && !isOptional) throw new UsageError('--limit is required, such as --limit 100')
  if (texts.length > MAX_LIMITS) throw new UsageError(`--limit can be given at most ${MAX_LIMITS} times`)
  const limits = texts.map(readLimit)
  const twice = limits.find((limit, i) => limits.indexOf(limit) < i)
  if (twice !== undefined) throw new UsageError(`--limit ${twice} is given twice`)
  return limits
}

/** Requires the ending, so that `--html access.log` does not replace the log. */
function readHtmlPath(path: string | undefined): string | undefined {
  if (path === undefined || /[^/\\]\.html?$/i.test(path)) return path
  throw new UsageError(
    `--html must be a file that ends in .html, such as report.html, got ${JSON.stringify(path)}`,
  )
}

function readLimit(text: string): number {
  const limit = Number(text)
  if (/^\d{1,15}$/.test(text) && limit >= 1) return limit
  throw new UsageError(`--limit must be a whole number of at least 1, got ${JSON.stringify(text)}`)
}

function readPolicyName(text = 'token-bucket'): PolicyName {
  if (isPolicyName(text)) return text
  const names = Object.keys(POLICIES)
  const fix = didYouMean('', text, names)
  throw new UsageError(`--policy must be one of ${names.join(', ')}, got ${JSON.stringify(text)}${fix}`)
}

function isPolicyName(text: string): text is PolicyName {
  return Object.hasOwn(POLICIES, text)
}

function makePolicy(kind: PolicyName, limit: number, window: number): Policy {
  try {
    return POLICIES[kind](limit, `${window}ms`)
  } catch (error) {
    if (kind === 'sliding-window' && window < MIN_SLIDING_MS)
      throw new UsageError(
        `--policy sliding-window requires a --window of at least ${MIN_SLIDING_MS}ms, got ${window}ms`,
      )
    if (kind !== 'token-bucket') throw new UsageError(messageOf(error))
    const fix = 'use --policy sliding-window, which supports any rate'
    throw new UsageError(
      `--limit ${limit} in --window ${durationText(window)} is too fast for a token bucket; ${fix}`,
    )
  }
}

function countableStart(kind: PolicyName): WindowStart {
  const startsAt = COUNTABLE[kind]
  if (startsAt !== undefined) return startsAt
  const why = `a ${kind} cannot be counted exactly for every limit in one pass`
  throw new UsageError(`--suggest requires --policy fixed-window or first-request: ${why}`)
}

function neededFields(routes: readonly string[], keys: readonly KeyPart[]): NeededField[] {
  const needsMethod = routes.length > 0 && routes.every((route) => !route.trim().startsWith('/'))
  return [
    ...(needsMethod ? (['method'] as const) : []),
    ...(routes.length > 0 || keys.includes('path') ? (['path'] as const) : []),
  ]
}

function readKeyPart(text: string): KeyPart {
  if (text === 'ip' || text === 'user' || text === 'path') return text
  if (text.startsWith('field:') && text.length > 'field:'.length)
    return { field: text.slice('field:'.length) }
  const must = 'ip, user, path or field:NAME, or several separated by commas'
  throw new UsageError(`--key must be ${must}, got ${JSON.stringify(text)}`)
}
