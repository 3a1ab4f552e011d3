import { isKey } from './identity.js'

/**
 * Control, format, private-use, surrogate and unassigned code points: Unicode's general category C (UAX
 * #44, table 12). They show nothing, and the collations of databases ignore many of them, so that `"ada"`
 * with one of them is the row of `"ada"`. Which code points are unassigned depends on the Unicode version
 * of Node.js.
 */
const INVISIBLE = /\p{C}/u

/** Printable ASCII, for which case is all there is. */
const PLAIN = /^[ -~]*$/

/** Returns whether a value can be a name: a key that is not empty and holds no invisible character. */
export function isName(value: unknown): value is string | number | bigint {
  return isKey(value) && value !== '' && !INVISIBLE.test(String(value))
}

/**
 * Returns the one spelling that stands for all spellings of a name: case, width and white space around it
 * make no difference, accents do. `"Bob "`, `"BOB"` and full-width letters fold to `"bob"`; `"josé"` and
 * `"jose"` stay two names. `byField` and `loginGuard` fold names in this way unless they have a `normalize`
 * of their own.
 *
 * Returns `undefined` for what `loginGuard` answers 400 to: an empty name, more than 1024 characters, half
 * a surrogate pair, and any control, format, private-use or unassigned character (`\p{C}` in the Unicode
 * version of Node.js).
 *
 * An application must compare names as the guard folds them. One that tells `"Ada"` from `"ada"` lets the
 * owner of one clear the failed attempts at the other. One that takes as one what the guard tells apart, as
 * many a collation does, gives each spelling guesses of its own. So store `foldName(name)` at registration
 * in a column that compares bytes, and find accounts by `foldName(name)` at login.
 */
export function foldName(name: string): string | undefined {
  return typeof name === 'string' ? normalizeName(name, fold) : undefined
}

/**
 * Returns what `normalize` makes of a name, or `undefined` where the name as it came or the result can be
 * none.
 */
export function normalizeName<T>(name: string, normalize: (name: string) => T): T | undefined {
  if (!isName(name)) return undefined
  const normalized = normalize(name)
  return isName(normalized) ? normalized : undefined
}

/**
 * Folds by way of upper case, which is one for letters that have two lower ones (`"ς"` and `"σ"`, `"ß"` and
 * `"ss"`), as Unicode's case folding has it (UAX #44, NFKC_Casefold), and removes characters that fonts
 * ignore (variation selectors, fillers).
 */
export function fold(name: string): string {
  if (PLAIN.test(name)) return name.toLowerCase().trim()
  const seen = name.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '')
  return seen.toLowerCase().toUpperCase().toLowerCase().normalize('NFKC').trim()
}
