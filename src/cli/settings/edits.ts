import type {
  GivenDocument,
  LimitSettings,
  SettingsDocument,
  SettingsOverride,
} from '../../limiter/settings-document.js'
import { limitPath, overridePath } from '../../settings/parts.js'
import { didYouMean } from '../arguments.js'
import { UsageError } from '../failures.js'
import type { SettingsRequest } from './arguments.js'

/** Returns a document that the command line asks for, made from the latest one. */
export type RequestedEdit = (document: SettingsDocument) => GivenDocument

/** Returns the edit for a command. Throws a `UsageError` for wrong arguments. */
export function editFor(request: SettingsRequest): RequestedEdit {
  const { action, rest, target, until } = request
  switch (action) {
    case 'set':
      return setEdit(request)
    case 'unset':
      return unsetEdit(rest)
    case 'candidate': {
      const limits = readLimits(request)
      return (document) => ({
        ...document,
        candidate: { limits: withFields(document.candidate?.limits, limits) },
      })
    }
    case 'override': {
      const limits = withFields({}, readLimits(request))
      return overrideEdit({ ...target, limits, ...(until !== undefined && { until }) })
    }
    case 'remove': {
      noMore(request)
      const path = pathOf(target)
      return (document) => ({ ...document, overrides: withoutOverride(document, path) })
    }
    default: {
      noMore(request)
      const effect = action === 'block' ? { block: true as const } : { exempt: true as const }
      return overrideEdit({ ...target, ...effect, ...(until !== undefined && { until }) })
    }
  }
}

function noMore({ action, rest: [extra] }: SettingsRequest): void {
  if (extra !== undefined) throw new UsageError(`settings ${action} takes no ${JSON.stringify(extra)}`)
}

type Fields = Readonly<Record<string, unknown>>

function setEdit(request: SettingsRequest): RequestedEdit {
  const isMode = (text: string) => text.startsWith('mode=')
  const [mode] = request.rest.filter(isMode)
  const rest = request.rest.filter((text) => !isMode(text))
  const limits = rest.length === 0 && mode !== undefined ? new Map() : readLimits({ ...request, rest })
  return (document) => ({
    ...document,
    ...(mode !== undefined && { mode: mode.slice('mode='.length) as never }),
    limits: withFields(document.limits, limits),
  })
}

/** Reads assignments such as `limit=200` or, of one of several limits, `account.limit=5`. */
function readLimits({ action, limiter, rest }: SettingsRequest): ReadonlyMap<string, Fields> {
  const limits = new Map<string, Fields>()
  if (rest.length === 0)
    throw new UsageError(`settings ${action} requires fields such as limit=200 window=1m`)
  for (const assignment of rest) {
    const [, name = limiter, field, value] = /^(?:(.+)\.)?([A-Za-z]+)=(.*)$/s.exec(assignment) ?? []
    if (field === undefined || value === undefined)
      throw new UsageError(
        `${JSON.stringify(assignment)} is not a field such as limit=200 or account.limit=5`,
      )
    limits.set(name, { ...limits.get(name), [field]: fieldValue(value) })
  }
  return limits
}

function fieldValue(text: string): string | number {
  return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text
}

/** Returns limits with other fields. With a policy among them, they replace all fields of the limit. */
function withFields(
  limits: Readonly<Record<string, LimitSettings>> = {},
  fields: ReadonlyMap<string, Fields>,
): Record<string, LimitSettings> {
  const changed = Array.from(fields, ([name, given]) => {
    const before = 'policy' in given || !Object.hasOwn(limits, name) ? {} : limits[name]
    return [name, { ...before, ...given }] as const
  })
  return { ...limits, ...(Object.fromEntries(changed) as Record<string, LimitSettings>) }
}

/** Returns the edit that removes parts by their paths, as `show` and `history` print them. */
function unsetEdit(paths: readonly string[]): RequestedEdit {
  if (paths.length === 0)
    throw new UsageError('settings unset requires parts such as limits.api, mode or candidate')
  return (document) => {
    const { mode, limits, candidate, overrides } = document
    const known = [
      ...(mode === undefined ? [] : ['mode']),
      ...(candidate === undefined ? [] : ['candidate']),
      ...Object.keys(limits).map(limitPath),
      ...overrides.map(overridePath),
    ]
    for (const path of paths)
      if (!known.includes(path))
        throw new UsageError(`the document has no ${path}${didYouMean('', path, known)}`)
    const stays = (path: string) => !paths.includes(path)
    return {
      ...(mode !== undefined && stays('mode') && { mode }),
      ...(candidate !== undefined && stays('candidate') && { candidate }),
      limits: Object.fromEntries(Object.entries(limits).filter(([name]) => stays(limitPath(name)))),
      overrides: overrides.filter((override) => stays(overridePath(override))),
    }
  }
}

/** Returns the edit that adds an override, in place of the one with the same target. */
function overrideEdit(override: SettingsOverride): RequestedEdit {
  const path = pathOf(override)
  return (document) => {
    const at = document.overrides.findIndex((each) => overridePath(each) === path)
    const overrides = at < 0 ? [...document.overrides, override] : document.overrides.with(at, override)
    return { ...document, overrides }
  }
}

function withoutOverride({ overrides }: SettingsDocument, path: string): SettingsOverride[] {
  const others = overrides.filter((each) => overridePath(each) !== path)
  if (others.length < overrides.length) return others
  throw new UsageError(`there is no ${path}: settings show lists the overrides`)
}

/** Returns the path of an override by its target alone. Throws a `UsageError` for a wrong target. */
function pathOf(target: SettingsOverride | undefined): string {
  try {
    const { limits: _limits, until: _until, block: _block, exempt: _exempt, ...only } = target ?? {}
    return overridePath({ ...only, exempt: true })
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new UsageError(error.message.replace(/^settings: (?:the override\.?)?/, ''))
  }
}
