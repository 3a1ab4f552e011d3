import { StoreError } from '../store-error.js'

/** Returns the error for a key that headgate did not write, or not for this policy. */
export function foreignKeyError(key: string): StoreError {
  const problem = `the key ${key} holds something other than a state of its policy`
  const cause = new Error(`WRONGTYPE ${problem}`)
  return new StoreError('redis', `${problem}. Give the limiter another prefix.`, { cause, answered: true })
}
