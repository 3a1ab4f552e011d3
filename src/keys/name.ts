import { isKey } from './value-identity.js'

/**
 * Unicode's general category C (UAX #44, table 12): control, format, private-use, surrogate and unassigned
 * code points (which are unassigned depends on the version of Node.js). They show nothing, and the
 * collations of databases ignore many of them, so that `"ada"` with one of them finds the row of `"ada"`.
 */
const INVISIBLE = /\p{C}/u

/** Names that need no Unicode rules: visible ASCII, without white space. Most names are like this. */
const PLAIN = /^[!-~]+$/

/** Returns whether a value can be a name: a key that is not empty and holds no invisible character. */
export function isName(value: unknown): value is string | number | bigint {
  if (!isKey(value) || value === '') return false
  const text = String(value)
  return PLAIN.test(text) || !INVISIBLE.test(text)
}

/**
 * Returns one spelling for all spellings of a name. `byField` and `loginGuard` fold names in this way,
 * unless you set their `normalize`.
 *
 * Case, width and surrounding white space make no difference, but accents do. `"Bob "`, `"BOB"` and
 * full-width letters fold to `"bob"`, but `"josé"` and `"jose"` stay two names.
 *
 * Returns `undefined` for names to which `loginGuard` responds with 400. Those are an empty name, more than
 * 1024 characters, half a surrogate pair, and any control, format, private-use or unassigned character
 * (`\p{C}` in the Unicode version of Node.js).
 *
 * An application must compare names as the guard folds them. If it distinguishes `"Ada"` from `"ada"`, the
 * owner of one clears the failed attempts at the other. If it equates names that the guard distinguishes, as
 * many collations do, each spelling has its own guesses. So store `foldName(name)` at registration in a
 * column that compares bytes, and find accounts by `foldName(name)` at login.
 *
 * @example
 * ```ts
 * import { foldName } from 'headgate'
 *
 * const users = new Map([['ada', { id: 1 }]]) // by folded name
 * export function findUser(typedName: string) {
 *   return users.get(foldName(typedName) ?? '') // ' ADA ' finds 'ada'
 * }
 * ```
 */
export function foldName(name: string): string | undefined {
  return typeof name === 'string' ? normalizeName(name, fold) : undefined
}

/** Returns the result of `normalize`; `undefined` if either is not a name. */
export function normalizeName(name: string, normalize: (name: string) => string): string | undefined {
  if (!isName(name)) return undefined
  const normalized = normalize(name)
  return isName(normalized) ? normalized : undefined
}

/**
 * Returns a name folded as Unicode's NFKC_Casefold does (UAX #44), without characters that fonts ignore
 * (variation selectors, fillers). Letters with two lower cases (`"ς"` and `"σ"`) have one upper case.
 */
export function fold(name: string): string {
  if (PLAIN.test(name)) return name.toLowerCase()
  const visible = name.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '')
  return visible.toLowerCase().toUpperCase().toLowerCase().normalize('NFKC').trim()
}
