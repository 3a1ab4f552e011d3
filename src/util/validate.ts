import { escapeUnprintable } from './printable.js'
import { isObject } from './values.js'

/** Returns whether a text looks like `scheme://…` or `user:password@…`. */
function looksLikeCredential(text: string): boolean {
  const colonAt = text.indexOf(':')
  return text.includes('://') || (colonAt >= 0 && text.includes('@', colonAt))
}

/**
 * Returns how an error message shows a value: short, on one line, without control characters; a likely
 * credential only as its kind.
 */
export function show(value: unknown): string {
  const text = escapeUnprintable(spell(value))
  return looksLikeCredential(typeof value === 'string' ? value : text) ? showKind(value) : text
}

function spell(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}...` : value)
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return value.name ? `function ${value.name}` : 'a function'
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (isObject(value)) return 'an object'
  return String(value)
}

/**
 * Returns how an error message shows a value that may hold a credential (a connection string, a secret, a
 * client with its options): only its kind, since messages end in logs (OWASP Logging Cheat Sheet, "Data
 * to exclude").
 */
export function showKind(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  const isHarmless = value === undefined || typeof value === 'object' || typeof value === 'boolean'
  return isHarmless ? spell(value) : `a ${typeof value}`
}

/** Returns how an error message shows the name of an option: anything may have been spread into options. */
export function showName(name: string): string {
  return looksLikeCredential(name) ? '"…"' : show(name)
}

/* @__NO_SIDE_EFFECTS__ */
function errorWith(spelled: (value: unknown) => string) {
  return (owner: string, option: string, must: string, value: unknown, fix?: string): TypeError =>
    new TypeError(`${owner}: ${option} must be ${must}, got ${spelled(value)}.${fix ? ` ${fix}` : ''}`)
}

/** Returns the error about a wrong option: whose it is, what it must be, what it was, the fix. */
export const wrongOption = errorWith(show)

/** Returns the error of `wrongOption` for an option whose value may hold a credential. */
export const wrongKind = errorWith(showKind)

/** Returns the error about any other mistake: whose it is, the problem, the fix. */
export function wrongUse(owner: string, problem: string, fix: string): TypeError {
  return new TypeError(`${owner}: ${problem}. ${fix}`)
}

/**
 * Returns what a function of the application returned. Throws a `TypeError` unless it is a boolean. The
 * error shows only its kind, since a client may have chosen the value.
 */
export function checkBoolean(owner: string, option: string, result: unknown): boolean {
  if (typeof result === 'boolean') return result
  const fix = 'Return a comparison, or Boolean(…).'
  throw wrongKind(owner, `the result of ${option}`, 'true or false', result, fix)
}

/**
 * Creates a row of an option table: a whole number from `min` to `max`. Its error suggests the nearest one,
 * or else the `example`.
 */
/* @__NO_SIDE_EFFECTS__ */
export function whole(min: number, max = Number.MAX_SAFE_INTEGER, example = 100) {
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`
  return (owner: string, option: string, value: unknown): number => {
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
    const near = typeof number === 'number' && Number.isFinite(number) ? Math.ceil(number) : example
    const fix = `Did you mean ${option}: ${Math.max(min, Math.min(max, near))}?`
    throw wrongOption(owner, option, `a whole number ${range}`, value, fix)
  }
}

export const wholeNumber = whole(1)

/** Creates a row of an option table: one of a few fixed strings. Its error suggests the nearest. */
/* @__NO_SIDE_EFFECTS__ */
export function choice<const T extends string>(...allowed: readonly T[]) {
  const list = allowed.map((word) => `'${word}'`).join(', ')
  return (owner: string, option: string, value: unknown): T => {
    const chosen = allowed.find((word) => word === value)
    if (chosen !== undefined) return chosen
    const near = typeof value === 'string' ? findNearest(value, allowed) : undefined
    throw wrongOption(owner, option, `one of ${list}`, value, near && `Did you mean ${option}: '${near}'?`)
  }
}

/** Returns the candidate that `word` may be a misspelling of; `undefined` if all are too different. */
export function findNearest<T extends string>(word: string, candidates: readonly T[]): T | undefined {
  const scored = candidates.map((candidate) => ({
    candidate,
    edits: distance(word.slice(0, 60).toLowerCase(), candidate.toLowerCase()),
  }))
  const best = scored.reduce((a, b) => (b.edits < a.edits ? b : a))
  return best.edits <= Math.max(2, word.length / 3) ? best.candidate : undefined
}

/** Returns how many characters have to be added, removed or replaced (Levenshtein's distance). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i) // from '' to each beginning of `to`
  for (let i = 0; i < from.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < to.length; j++) {
      const [left = 0, diagonal = 0, above = 0] = [next[j], row[j], row[j + 1]]
      next.push(Math.min(diagonal + (from[i] === to[j] ? 0 : 1), above + 1, left + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}

/** What `keyName` accepts. */
export const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/**
 * Returns a name that needs no escaping in a key or a header: 1 to 64 letters, digits, dots, dashes or
 * underscores (memcached keys have no whitespace, structured fields are printable ASCII: RFC 9651 §3.3.3).
 */
export function keyName(owner: string, option: string, value: unknown): string {
  if (typeof value === 'string' && NAME.test(value)) return value
  const must = '1 to 64 letters, digits, dots, dashes or underscores, beginning with a letter or digit'
  throw wrongOption(owner, option, must, value, `Did you mean ${option}: '${suggestName(value)}'?`)
}

/** Returns the nearest name that `keyName` takes; `api` for what has none or looks like a credential. */
function suggestName(value: unknown): string {
  const text = typeof value === 'string' && !looksLikeCredential(value) ? value : ''
  const plain = text.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '')
  return plain.slice(0, 64) || 'api'
}
