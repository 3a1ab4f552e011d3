import { distance } from 'fastest-levenshtein'

/**
 * Whether a text looks like a connection string, or like a user with a password: `scheme://…`,
 * `user:password@…`.
 */
function looksLikeCredential(text: string): boolean {
  const colonAt = text.indexOf(':')
  return text.includes('://') || (colonAt >= 0 && text.includes('@', colonAt))
}

/**
 * How an error message shows a value: strings quoted, everything short and on one line. Of what looks like a
 * credential only the kind.
 */
export function show(value: unknown): string {
  if (looksLikeCredential(typeof value === 'string' ? value : spell(value))) return showKind(value)
  return spell(value)
}

function spell(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}...` : value)
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return value.name ? `function ${value.name}` : 'a function'
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (typeof value === 'object' && value !== null) return 'an object'
  return String(value)
}

/**
 * How an error message shows a value that may hold a credential (a connection string, a secret, a client
 * with its options): only what kind of thing it is, since error messages end in logs (OWASP Logging cheat
 * sheet, "Data to exclude").
 */
export function showKind(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'object' && value !== null) return spell(value)
  return value === undefined || value === null || typeof value === 'boolean'
    ? spell(value)
    : `a ${typeof value}`
}

/** The error of `wrongOption` for an option whose value may hold a credential. */
export function wrongKind(
  owner: string,
  option: string,
  must: string,
  value: unknown,
  fix?: string,
): TypeError {
  return wrong(`${owner}: ${option} must be ${must}, got ${showKind(value)}.`, fix)
}

/**
 * A `TypeError` in the one form that headgate uses: who, which option, what it must be, what it was, the
 * fix.
 */
export function wrongOption(
  owner: string,
  option: string,
  must: string,
  value: unknown,
  fix?: string,
): TypeError {
  return wrong(`${owner}: ${option} must be ${must}, got ${show(value)}.`, fix)
}

function wrong(problem: string, fix: string | undefined): TypeError {
  const error = new TypeError(fix ? `${problem} ${fix}` : problem)
  problems.set(error, problem)
  return error
}

/** What each error of `wrongOption` says without its fix. */
const problems = new WeakMap<TypeError, string>()

/** The same error with another fix, for one of `wrongOption`; any other as it is. */
export function withFix(error: TypeError, fix: string): TypeError {
  const problem = problems.get(error)
  return problem === undefined ? error : new TypeError(`${problem} ${fix}`)
}

/** An option's value, or its default where it was left out. `null` is not left out; it is wrong. */
export function given<T>(value: T | undefined, fallback: T): T {
  return value === undefined ? fallback : value
}

/**
 * Checks a whole number between `min` and `max`. The fix is the nearest one that fits, or else the
 * `example`.
 */
export function wholeNumber(
  owner: string,
  option: string,
  value: unknown,
  min = 1,
  max = Number.MAX_SAFE_INTEGER,
  example = 100,
): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`
  throw wrongOption(
    owner,
    option,
    `a whole number ${range}`,
    value,
    `Did you mean ${option}: ${nearestNumber(value, min, max, example)}?`,
  )
}

/** A row of an option table: a whole number between `min` and `max`. */
export function whole(min: number, max = Number.MAX_SAFE_INTEGER, example = 100) {
  return (owner: string, option: string, value: unknown): number =>
    wholeNumber(owner, option, value, min, max, example)
}

function nearestNumber(value: unknown, min: number, max: number, example: number): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof number !== 'number' || !Number.isFinite(number)) return Math.max(min, Math.min(max, example))
  return Math.max(min, Math.min(max, Math.ceil(number)))
}

/** Checks one of a few fixed strings, and suggests the nearest. */
export function oneOf<T extends string>(
  owner: string,
  option: string,
  value: unknown,
  allowed: readonly T[],
): T {
  if (allowed.includes(value as T)) return value as T
  const list = allowed.map((word) => `'${word}'`).join(', ')
  const near = typeof value === 'string' ? nearest(value, allowed) : undefined
  throw wrongOption(owner, option, `one of ${list}`, value, near && `Did you mean ${option}: '${near}'?`)
}

/** A row of an option table: one of a few fixed strings. */
export function choice<const T extends string>(...allowed: readonly T[]) {
  return (owner: string, option: string, value: unknown): T => oneOf(owner, option, value, allowed)
}

/** Checks that options are a plain object. */
export function checkIsObject(
  owner: string,
  options: unknown,
  known: readonly string[],
): asserts options is object {
  if (typeof options === 'object' && options !== null && !Array.isArray(options)) return
  throw wrong(
    `${owner}: options must be an object, got ${showKind(options)}.`,
    `Known options: ${known.join(', ')}.`,
  )
}

/** An option that there is not: the error, and which option was meant, where that is known. */
interface UnknownOption {
  readonly error: TypeError
  readonly meant: string | undefined
}

/** Describes an option that there is not, and suggests the nearest of `known`. */
export function unknownOption(owner: string, name: string, known: readonly string[]): UnknownOption {
  const near = nearest(name, known)
  const fix = near === undefined ? `Known options: ${known.join(', ')}.` : `Did you mean ${near}?`
  return { error: new TypeError(`${owner}: there is no option ${showName(name)}. ${fix}`), meant: near }
}

/** How an error message shows the name of an option, which may be anything that was spread into options. */
export function showName(name: string): string {
  return looksLikeCredential(name) ? '"…"' : show(name)
}

function nearest<T extends string>(word: string, candidates: readonly T[]): T | undefined {
  const scored = candidates.map((candidate) => ({
    candidate,
    edits: distance(word.slice(0, 60).toLowerCase(), candidate.toLowerCase()),
  }))
  const best = scored.reduce((a, b) => (b.edits < a.edits ? b : a))
  return best.edits <= Math.max(2, word.length / 3) ? best.candidate : undefined
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/**
 * Checks a name that goes into keys and headers: 1 to 64 letters, digits, dots, dashes or underscores, so that it
 * needs no escaping in a memcached key (no blanks) or in a structured field (RFC 9651 §3.3.3, printable ASCII).
 */
export function keyName(owner: string, option: string, value: unknown): string {
  if (typeof value === 'string' && NAME.test(value)) return value
  const must = '1 to 64 letters, digits, dots, dashes or underscores, beginning with a letter or digit'
  throw wrongOption(owner, option, must, value, `Did you mean ${option}: '${keyNameLike(value)}'?`)
}

/**
 * The nearest name that `keyName` takes; `api` where there is none, or where the value looks like a
 * credential.
 */
export function keyNameLike(value: unknown): string {
  const text = typeof value === 'string' && !looksLikeCredential(value) ? value : ''
  const plain = text.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '')
  return plain.slice(0, 64) || 'api'
}

/** Checks a function, or `undefined` where the option may be left out. */
export function optionalFunction(owner: string, option: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function') throw wrongKind(owner, option, 'a function', value)
}
