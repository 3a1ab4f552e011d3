import { type Store, slidingWindow } from 'headgate'
import { LONG } from '../../../src/testing/conformance/sample-policies.js'

/** One that sees wrong passwords, and three that each see a right one. */
export const FRESH_PROCESSES = 4

/** No limit but failures in a row denies: five, of nine that no login clears. */
export function freshOptions(store: Store, name: string, path: string | undefined) {
  const lasting = slidingWindow({ limit: 100, window: LONG })
  return {
    field: 'username',
    store,
    name: `${name.replaceAll(' ', '-')}-${path ? 'with' : 'without'}-path`,
    consecutive: 5,
    timeout: 10_000,
    limits: {
      address: lasting,
      account: slidingWindow({ limit: 200, window: LONG }),
      accountAndAddress: lasting,
    },
    ...(path && { path }),
  }
}
