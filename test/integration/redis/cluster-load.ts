import { setTimeout as pause } from 'node:timers/promises'
import type { Store } from 'headgate'
import type { Parts } from '../../../src/testing/conformance/store-calls.js'
import { until } from '../../support/servers/wait.js'
import { chargeStore } from '../../support/store-calls.js'

/** What callers got that charge one after the other. */
export interface Load {
  readonly answered: number
  /** How often the charge at this place in the list was allowed. */
  readonly allowed: readonly number[]
  readonly errors: readonly unknown[]
  /** Waits until the callers have got so many more answers. */
  goesOn(answers?: number): Promise<void>
  end(): Promise<void>
}

/** Starts 100 callers, each of which charges one of the charges over and over. */
export function startLoad(store: Store, charges: readonly Parts[]): Load {
  const load = { answered: 0, allowed: charges.map(() => 0), errors: [] as unknown[] }
  let isDone = false
  const callers = Array.from({ length: 100 }, async (_, i) => {
    const at = i % charges.length
    while (!isDone) {
      try {
        const [verdict] = await chargeStore(store, [charges[at] as Parts])
        load.allowed[at] = (load.allowed[at] ?? 0) + Number(verdict?.allowed)
      } catch (error) {
        load.errors.push(error)
      }
      load.answered++
      await pause(1) // so that others on this machine have a share of it
    }
  })
  return Object.assign(load, {
    async goesOn(answers = 500) {
      const enough = load.answered + answers
      await until('the load goes on', () => load.answered > enough)
    },
    async end() {
      isDone = true
      await Promise.all(callers)
    },
  })
}
