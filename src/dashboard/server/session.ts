import { ignoreRejection } from '../../util/maybe-promise.js'

/** What a visitor may do, and who it is. */
export interface Session {
  readonly canChange: boolean
  /** Whom the option `operator` names; absent if it names no one, so that the page asks. */
  readonly operator?: string
}

/** The longest name that is recorded. */
const MAX_NAME = 200

/** Returns the session of a visitor, from what the options `authorize` and `operator` returned. */
export function sessionOf(access: true | 'view', operator: unknown): Session {
  ignoreRejection(operator)
  const name = typeof operator === 'string' ? operator.trim().slice(0, MAX_NAME).toWellFormed() : ''
  return { canChange: access === true, ...(name !== '' && { operator: name }) }
}
