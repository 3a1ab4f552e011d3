import { withDefault } from '../options/option-table.js'
import { choice, whole } from '../util/validate.js'
import type { OnChange } from './spec.js'

/** Options for debts and for changes of numbers. All policies that count units have them. */
export interface ChangeOptions {
  /**
   * How many units `adjust` and `penalize` may take beyond the limit. Use it for costs that are known only
   * after the response. Charges are denied until the debt is paid back, and never leave a debt themselves.
   * Default 0.
   */
  debt?: number
  /**
   * What happens to the units in use when the numbers of the limit change. Default `'keep'`.
   *
   * - `'keep'`: they stay in use.
   * - `'reset'`: usage under each set of numbers is counted separately, so new numbers start fresh.
   */
  onChange?: OnChange
}

/** The largest debt, which is also the largest limit. */
const MAX_DEBT = 0x20_0000_0000 // 2 ** 37, which bundlers would take for code with side effects

export const DEBT_ROW = withDefault(0, whole(0, MAX_DEBT))
export const ON_CHANGE_ROW = withDefault('keep', choice('keep', 'reset'))

/** The values of these options. */
export interface ChangeRules {
  readonly debt: number
  readonly onChange: OnChange
}

/** The rules of a policy whose options do not set them. */
export const NO_RULES: ChangeRules = { debt: 0, onChange: 'keep' }

/** Returns the fields of a spec for these rules. Rules that have their default are left out. */
export function specOfRules({ debt, onChange }: ChangeRules): { debt?: number; onChange?: OnChange } {
  return { ...(debt > 0 && { debt }), ...(onChange !== 'keep' && { onChange }) }
}
