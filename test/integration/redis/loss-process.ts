import { setTimeout as pause } from 'node:timers/promises'
import { fixedWindow, type Store, StoreError } from 'headgate'
import { openStore } from './process-store.js'

/** What came of the charges of a process. */
export interface LossCounts {
  allowed: number
  /** They may have been counted. */
  unknown: number
  unsent: number
}

/** More than a test can charge. */
export const POLICY = fixedWindow({ limit: 2 ** 40, window: '1000d' })

async function charge(store: Store): Promise<readonly unknown[]> {
  return store.apply([{ type: 'charge', parts: [{ key: 'key', policy: POLICY, cost: 1 }] }])
}

/** Charges as fast as it can until it is told to stop, and then sends the counts. */
async function main(url: string, driver: string): Promise<void> {
  const { store, end } = await openStore(url, driver)
  const counts: LossCounts = { allowed: 0, unknown: 0, unsent: 0 }
  let isStopped = false
  const stopped = new Promise<void>((resolve) => {
    process.once('message', () => {
      isStopped = true
      resolve()
    })
  })
  async function call(): Promise<void> {
    while (!isStopped) {
      const outcomes = await charge(store).catch((error: unknown) => [error])
      const [outcome] = outcomes
      if (!(outcome instanceof StoreError)) counts.allowed++
      else {
        counts[outcome.unsent || outcome.replied ? 'unsent' : 'unknown']++
        await pause(2)
      }
      if (counts.allowed === 1) process.send?.('started')
    }
  }
  await Promise.all([stopped, ...Array.from({ length: 50 }, call)])
  end()
  process.send?.(counts)
}

const [url, driver = ''] = process.argv.slice(2)
if (process.send !== undefined && url?.startsWith('redis://')) void main(url, driver)
