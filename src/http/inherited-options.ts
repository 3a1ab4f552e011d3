import { ENTRIES_RULE, limitsRow } from '../limiter/read-limits.js'
import type { Fixes } from '../options/fixes.js'
import { foreignFixes } from '../options/foreign-options.js'
import { type Rows, readOptions } from '../options/option-table.js'
import { MIDDLEWARE_ROWS, MIDDLEWARE_RULES } from './options.js'

/**
 * Checks options that may leave out the limit, such as those that routes inherit. `rows` extend the options
 * of all frameworks, and `fixes` extend the fixes for unknown options. Throws a `TypeError` that names the
 * option and the fix.
 */
export function checkOptions(owner: string, options: object, rows: Rows, fixes: Fixes): void {
  const { onDenied: _, ...common } = MIDDLEWARE_ROWS
  readOptions(owner, options, {
    rows: { ...common, limits: limitsRow(foreignFixes()), ...rows } as typeof common & Rows,
    rules: { ...(hasAmount(options ?? {}) && { entries: ENTRIES_RULE }), ...MIDDLEWARE_RULES },
    fixes: { ...foreignFixes(), ...fixes },
  })
}

/** Options that say how much is allowed. If a route sets one of them, it inherits none of them. */
const AMOUNTS = ['limit', 'window', 'policy', 'limits'] as const
/** Options that belong to an amount. They are inherited only together with it. */
const OF_AMOUNT = ['delay', 'candidate'] as const
/** Options that exclude or need each other. If a route sets one of `own`, it inherits none of `shared`. */
const REPLACED = [
  { own: ['count', 'actualCost'], shared: ['count', 'actualCost'] },
  { own: ['onStoreError'], shared: ['fallbackShare'] },
] as const
/** Options that cannot be combined with `limits`. */
const OF_ONE_LIMIT = ['key', 'cost'] as const

type Amounts = Partial<Record<(typeof AMOUNTS)[number], unknown>>
type Given = Amounts & Partial<Record<'name' | (typeof REPLACED)[number]['own'][number], unknown>>

export function hasAmount(options: Amounts): boolean {
  return AMOUNTS.some((name) => options[name] !== undefined)
}

/** Returns the options of a route: its own, and those that it inherits from the application. */
export function inheritOptions<Options extends Given>(shared: Options, own: Options): Options {
  const notInherited: readonly string[] = [
    'name',
    ...(own.name === undefined ? ['settings'] : []), // a document is found by the name
    ...(hasAmount(own) ? [...AMOUNTS, ...OF_AMOUNT] : []),
    ...REPLACED.filter((each) => each.own.some((name) => own[name] !== undefined)).flatMap(
      (each) => each.shared,
    ),
    ...(own.limits === undefined ? [] : OF_ONE_LIMIT),
  ]
  const inherited = Object.entries(shared).filter(([option]) => !notInherited.includes(option))
  const given = Object.entries(own).filter(([, value]) => value !== undefined)
  return Object.fromEntries([...inherited, ...given]) as Options
}
