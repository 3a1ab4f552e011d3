import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { checkBoolean, wrongKind, wrongOption } from '../util/validate.js'
import { fieldsOf, isObject } from '../util/values.js'
import { describeUnknown, type Fixes } from './fixes.js'
import { checkNotMisplaced } from './misplaced.js'
import { collectTypeError, throwProblems } from './problems.js'

/** Returns the setting of an option; `value` is `undefined` if it was left out. Throws a `TypeError`. */
export type ReadOption<T = unknown> = (owner: string, option: string, value: unknown) => T

/** The options of a factory: one row for each, with how it is read. */
export type Rows = Readonly<Record<string, ReadOption>>

/** What is read from rows: a setting for each option. */
export type Settings<R extends Rows> = { readonly [K in keyof R]: ReturnType<R[K]> }

/** A check of several options together, or a setting made of them. */
export interface Rule<S> {
  /** The options that it depends on. */
  readonly from: readonly (keyof S & string)[]
  /** Throws a `TypeError`, or returns a setting. */
  read(owner: string, settings: S): unknown
}

export type Rules<S> = Readonly<Record<string, Rule<S>>>

type Read<R extends Rows, D extends Rules<Settings<R>>> = Settings<R> & {
  readonly [K in keyof D]: ReturnType<D[K]['read']>
}

/** All that a factory knows about its options. */
export interface OptionTable<R extends Rows, D extends Rules<Settings<R>>> {
  readonly rows: R
  readonly rules?: D
  /** What to write in place of options that it does not have. */
  readonly fixes?: Fixes
  /** What to write in place of options that are not an object. Default: the names of all options. */
  readonly objectFix?: string
}

/**
 * Reads options by a table, as `readRows` does. If the object is something else, such as a request from a
 * framework that calls the factory, the error says what it is.
 */
export function readOptions<R extends Rows, D extends Rules<Settings<R>>>(
  owner: string,
  options: unknown,
  table: OptionTable<R, D>,
): Read<R, D> {
  if (isObject(options)) checkNotMisplaced(owner, options)
  return readRows(owner, options, table)
}

/**
 * Reads options by a table: each row, then each rule whose own options are valid. Throws one `TypeError`
 * that lists all problems, including options without a row. If the options are part of a document, `path` is
 * their place in it, which errors show before the option.
 */
export function readRows<R extends Rows, D extends Rules<Settings<R>>>(
  owner: string,
  options: unknown,
  { rows, rules, fixes = {}, objectFix }: OptionTable<R, D>,
  path?: string,
): Read<R, D> {
  const optionNames = Object.keys(rows)
  const place = path === undefined ? owner : `${owner}: ${path}`
  if (!isObject(options) || Array.isArray(options)) {
    const fix = objectFix ?? `Known options: ${optionNames.join(', ')}.`
    throw path === undefined
      ? wrongKind(owner, 'options', 'an object', options, fix)
      : wrongOption(owner, path, 'an object', options, fix)
  }
  const given = fieldsOf(options)
  const problems: TypeError[] = []
  const settings: Record<string, unknown> = {}
  const invalid = new Set<string>()

  function set(name: string, read: () => unknown): void {
    const isValid = collectTypeError(problems, () => {
      settings[name] = read()
    })
    if (!isValid) invalid.add(name)
  }

  for (const { error, meant } of describeUnknown(place, given, optionNames, fixes)) {
    problems.push(error)
    for (const name of meant) if (given[name] === undefined) invalid.add(name) // not left out, but misnamed
  }
  for (const [name, read] of Object.entries(rows))
    if (!invalid.has(name))
      set(name, () => read(owner, path === undefined ? name : `${path}.${name}`, given[name]))
  for (const [name, { from, read }] of Object.entries(rules ?? {}))
    if (!from.some((option) => invalid.has(option))) set(name, () => read(place, settings as Settings<R>))
  throwProblems(owner, problems)
  return settings as Read<R, D>
}

/** Creates a row for an option that may be left out. */
/* @__NO_SIDE_EFFECTS__ */
export function optional<T>(read: ReadOption<T>): ReadOption<T | undefined> {
  return (owner, option, value) => (value === undefined ? undefined : read(owner, option, value))
}

/**
 * Creates a row for an option with a default, which is read as if it had been given. `null` is not left out;
 * it is wrong.
 */
/* @__NO_SIDE_EFFECTS__ */
export function withDefault<T>(fallback: unknown, read: ReadOption<T>): ReadOption<T> {
  return (owner, option, value) => read(owner, option, value === undefined ? fallback : value)
}

/** A row for a function that may be left out. */
export function callback<F>(owner: string, option: string, value: unknown): F | undefined {
  if (value !== undefined && typeof value !== 'function') throw wrongKind(owner, option, 'a function', value)
  return value as F | undefined
}

/** Creates a row for a function that has no default. `fix` shows how to write it. */
/* @__NO_SIDE_EFFECTS__ */
export function requiredFunction<F>(fix: string) {
  return (owner: string, option: string, value: unknown): F => {
    if (typeof value === 'function') return value as F
    throw wrongKind(owner, option, 'a function', value, fix)
  }
}

/**
 * A row for a function that exempts subjects. The function that is read throws a `TypeError`, or rejects
 * with one, if the result is truthy but not `true`: with a header as the result, clients could exempt
 * themselves.
 */
export function exemption<F extends (...args: never[]) => MaybePromise<boolean>>(
  owner: string,
  option: string,
  value: unknown,
): F | undefined {
  const exempts = callback<F>(owner, option, value)
  if (exempts === undefined) return undefined
  const check = (result: unknown) => Boolean(result) && checkBoolean(owner, option, result)
  return ((...args) => thenMaybe(exempts(...args), check)) as F
}

/** A row for an option that a rule checks. */
export function unchecked(_owner: string, _option: string, value: unknown): unknown {
  return value
}
