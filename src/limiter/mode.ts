import { choice } from '../util/validate.js'

/** Whether a limiter denies, or only reports what it would deny. */
export type Mode = 'enforce' | 'report'

/** Checks a mode. Throws a `TypeError` for another value. */
export const checkMode = choice<Mode>('enforce', 'report')

/** Where the parts of one limiter read its mode: it may change while the limiter runs. */
export interface ModeSwitch {
  mode: Mode
}

/** Returns whether a limiter only reports. */
export function isReport({ mode }: ModeSwitch): boolean {
  return mode === 'report'
}
