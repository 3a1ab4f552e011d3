import { readOptions } from '../options/option-table.js'
import { wrongOption } from '../util/validate.js'

const TABLE = {
  rows: {
    limits: (owner: string, option: string, names: unknown): readonly string[] | undefined => {
      if (names === undefined || Array.isArray(names)) return names
      throw wrongOption(owner, option, 'an array of limit names', names)
    },
  },
  objectFix: "Leave them out, or write { limits: ['burst'] }. To refund only some units, call adjust.",
}

/**
 * Reads the option `limits` of an adjustment, a list of names. Throws a `TypeError` for a name that no limit
 * has.
 */
export function readNames(
  owner: string,
  options: { readonly limits?: readonly string[] } | undefined,
  limitNames: readonly string[] | undefined,
): readonly string[] | undefined {
  if (options === undefined) return undefined
  const { limits: names } = readOptions(owner, options, TABLE)
  if (names !== undefined) checkNames(owner, names, limitNames)
  return names
}

/** Throws a `TypeError` for a name that no limit has. `limitNames` are those of the limiter, if known. */
export function checkNames(
  owner: string,
  names: readonly string[],
  limitNames: readonly string[] | undefined,
): void {
  const unknown = limitNames && names.find((name) => !limitNames.includes(name))
  if (unknown === undefined) return
  const fix = `The limits are ${limitNames?.map((name) => `'${name}'`).join(', ')}.`
  throw wrongOption(owner, 'limits', "names of this limiter's limits", unknown, fix)
}
