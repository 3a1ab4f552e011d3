import { withDefault } from '../options/option-table.js'
import { choice, whole } from '../util/validate.js'
import type { OnChange } from './spec.js'

/** What policies that count units say about debts and about a change of their numbers. */
export interface ChangeOptions {
  /**
   * How many units `adjust` and `penalize` may take beyond the limit, for a cost that is known only
   * afterwards. Further charges are denied until the debt is paid back. A charge itself never owes. Default 0.
   */
  debt?: number
  /**
   * What becomes of the units in use when the limit gets other numbers. `'keep'`: they stay in use. With
   * `'scale'`, the same share of the limit does. `'reset'`: the usage under each set of numbers is kept apart,
   * so a new one starts fresh. Default `'keep'`.
   */
  onChange?: OnChange
}

/** The largest debt: that of the largest limit. */
const MAX_DEBT = 2 ** 37

export const CHANGE_ROWS = {
  debt: withDefault(0, whole(0, MAX_DEBT)),
  onChange: withDefault('keep', choice('keep', 'scale', 'reset')),
}

/** The row of `onChange`, for a policy that has no debt. */
export const ON_CHANGE_ROW = { onChange: CHANGE_ROWS.onChange }

/** The settings of these options. */
export interface ChangeRules {
  readonly debt: number
  readonly onChange: OnChange
}

/** The rules of a policy that says nothing about them. */
export const NO_RULES: ChangeRules = { debt: 0, onChange: 'keep' }

/** Returns the fields of a spec that say so, without those that have their default. */
export function specOfRules({ debt, onChange }: ChangeRules): { debt?: number; onChange?: OnChange } {
  return { ...(debt > 0 && { debt }), ...(onChange !== 'keep' && { onChange }) }
}
