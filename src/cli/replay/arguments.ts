import type { Policy } from '../../policies/policy.js'
import type { TimeZone } from '../../util/time-zone.js'
import { readArguments, readDuration } from '../arguments.js'
import { UsageError } from '../failures.js'
import type { ProxyTest } from '../log/client-address.js'
import type { OwnNames } from '../log/field-names.js'
import { parseTemplate, type Template } from '../log/format/template.js'
import { readFieldNames } from './fields-option.js'
import type { NeededField } from './file-check.js'
import type { KeyPart } from './identity.js'
import { countableStart, makePolicy, readLimits, readPolicyName, type WindowStart } from './policy-option.js'
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

/** Requires the ending, so that `--html access.log` does not replace the log. */
function readHtmlPath(path: string | undefined): string | undefined {
  if (path === undefined || /[^/\\]\.html?$/i.test(path)) return path
  throw new UsageError(
    `--html must be a file that ends in .html, such as report.html, got ${JSON.stringify(path)}`,
  )
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
