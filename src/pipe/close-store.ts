import type { Store } from '../stores/store.js'
import { type Deadlines, TimeoutError } from '../util/timeout.js'

/** Closes what a store opened itself. Does not wait longer than the time-out. */
export async function closeStore(store: Store, deadlines: Deadlines): Promise<void> {
  try {
    await deadlines.limit(Promise.resolve(store.close?.()))
  } catch (error) {
    if (!(error instanceof TimeoutError)) throw error
  }
}
