import { readOptions } from '../options/option-table.js'
import { show, wrongOption } from '../util/validate.js'

const NAMES = {
  rows: {
    limits: (owner: string, option: string, names: unknown): readonly string[] | undefined => {
      if (names === undefined || Array.isArray(names)) return names
      throw wrongOption(owner, option, 'an array of limit names', names)
    },
  },
}

/**
 * Reads the option `limits` of an adjustment, a list of names. Throws a `TypeError` for a name that no limit
 * has. `objectFix` is what to write in place of options that are not an object.
 */
export function readNames(
  owner: string,
  options: { readonly limits?: readonly string[] } | undefined,
  limitNames: readonly string[] | undefined,
  objectFix: string,
): readonly string[] | undefined {
  if (options === undefined) return undefined
  const { limits: names } = readOptions(owner, options, { ...NAMES, objectFix })
  if (names === undefined) return undefined
  const unknown = limitNames && names.find((name) => !limitNames.includes(name))
  if (unknown === undefined) return names
  const fix = `The limits are ${limitNames?.map((name) => `'${name}'`).join(', ')}.`
  const must = "names of this limiter's limits"
  throw new TypeError(`${owner}: limits must be ${must}, got ${show(unknown)}. ${fix}`)
}
