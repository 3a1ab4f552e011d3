import { type FieldRole, type OwnNames, ROLES } from './field-names.js'
import { isObject, type JsonObject } from './json-text.js'
import { type NameTree, type NameUse, nameTree } from './name-tree.js'

/** What a log says of a request. */
export interface FoundFields {
  /** `NaN` if there is none. */
  timeMs: number
  readonly texts: Partial<Record<FieldRole, string | undefined>>
  /** The fields that these are from. */
  readonly names: Partial<Record<FieldRole, string | undefined>>
}

/** Returns the milliseconds of a time; `NaN` of anything else. */
export type ParseTime = (value: unknown) => number

/**
 * Creates a function that finds the fields of a request by their names. It looks each field up once, so the
 * number of known names does not matter. One object serves all lines.
 */
export function fieldFinder(ownNames: OwnNames, parseTime: ParseTime): (fields: JsonObject) => FoundFields {
  const tree = nameTree(ownNames)
  const found: FoundFields = { timeMs: Number.NaN, texts: {}, names: {} }
  const ranks = Object.fromEntries(ROLES.map((role) => [role, 0])) as Record<FieldRole, number>

  function walk(fields: JsonObject, names: NameTree): void {
    for (const name in fields) {
      const node = names.get(name)
      if (node === undefined) continue
      const value = fields[name]
      for (const use of node.uses) offer(use, value)
      if (node.inner.size > 0 && isObject(value)) walk(value, node.inner)
    }
  }

  function offer({ role, rank, name }: NameUse, value: unknown): void {
    if (rank >= ranks[role]) return
    if (role === 'time') {
      const timeMs = parseTime(value)
      if (Number.isNaN(timeMs)) return
      found.timeMs = timeMs
    } else {
      const text = textOfRole(role, value)
      if (text === undefined) return
      found.texts[role] = text
    }
    ranks[role] = rank
    found.names[role] = name
  }

  return function findFields(fields) {
    found.timeMs = Number.NaN
    for (const role of ROLES) {
      found.texts[role] = undefined
      found.names[role] = undefined
      ranks[role] = Number.POSITIVE_INFINITY
    }
    walk(fields, tree)
    if (Number.isNaN(found.timeMs)) {
      found.timeMs = parseTime(dateAndTime(fields))
      if (!Number.isNaN(found.timeMs)) found.names.time = 'date, time'
    }
    return found
  }
}

function textOfRole(role: FieldRole, value: unknown): string | undefined {
  if (role === 'request') return requestLineOf(value)
  return role === 'forwarded' ? listOf(value) : textOf(value)
}

/** Returns a request line, also one that is none; API Gateway names a route that has no path. */
function requestLineOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '$default' ? value : undefined
}

/** Returns a field with a value as text. Servers log `""` or `"-"` for none. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string' && value !== '' && value !== '-') return value
  return typeof value === 'number' ? String(value) : undefined
}

/** Returns the values of a header, which may have been sent several times. */
function listOf(value: unknown): string | undefined {
  if (!Array.isArray(value)) return textOf(value)
  return textOf(value.filter((each) => typeof each === 'string').join(', '))
}

/** Returns a time that has two fields, as in the logs of CloudFront and IIS, which are in UTC. */
function dateAndTime({ date, time }: JsonObject): unknown {
  return typeof date === 'string' && typeof time === 'string' ? `${date}T${time}Z` : undefined
}

/** Returns the names of all fields, also of those that are nested, with dots. */
export function fieldNames(fields: JsonObject, depth = 0): string[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    const isNested = isObject(value) && depth < MAX_DEPTH
    return isNested ? fieldNames(value, depth + 1).map((inner) => `${name}.${inner}`) : [name]
  })
}

const MAX_DEPTH = 3

/** Returns a field by its name; one with dots may also be the path of a nested field. */
export function fieldOf(fields: JsonObject, name: string): unknown {
  if (Object.hasOwn(fields, name)) return fields[name]
  const dotAt = name.indexOf('.')
  if (dotAt < 0) return undefined
  const outer = name.slice(0, dotAt)
  const inner = Object.hasOwn(fields, outer) ? fields[outer] : undefined
  return isObject(inner) ? fieldOf(inner, name.slice(dotAt + 1)) : undefined
}
