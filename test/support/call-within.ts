import { runInNewContext } from 'node:vm'

/** Calls a function, and throws if it has not returned in time. A time-out of the test would not end a loop. */
export function callWithin(timeout: number, call: () => void): void {
  runInNewContext('call()', { call }, { timeout })
}
