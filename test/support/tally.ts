import { type Store, StoreError } from 'headgate/store'
import type { Parts } from '../../src/testing/conformance/store-calls.js'
import { chargeStore } from './store-calls.js'

/** What is known of charges. Any other that was sent has an unknown outcome: it may have been counted. */
export interface Tally {
  sent: number
  allowed: number
  denied: number
  /** Charges that failed, and that the store did certainly not count. */
  uncounted: number
}

export const newTally = (): Tally => ({ sent: 0, allowed: 0, denied: 0, uncounted: 0 })

export const unknownIn = ({ sent, allowed, denied, uncounted }: Tally) => sent - allowed - denied - uncounted

export function sumOf(tallies: readonly Tally[]): Tally {
  const sum = newTally()
  for (const each of tallies) for (const name of Object.keys(sum) as (keyof Tally)[]) sum[name] += each[name]
  return sum
}

/** Units that were allowed and are not counted, and those that are counted and that no charge can have taken. */
export function faultsIn(tally: Tally, counted: number) {
  return {
    lost: Math.max(0, tally.allowed - counted),
    doubled: Math.max(0, counted - tally.allowed - unknownIn(tally)),
  }
}

/** What became of charges while something failed, and what the store counted. */
export type Losses = Readonly<Tally & ReturnType<typeof faultsIn> & Record<'unknown' | 'counted', number>>

export const lossesOf = (tally: Tally, counted: number): Losses => ({
  ...tally,
  unknown: unknownIn(tally),
  counted,
  ...faultsIn(tally, counted),
})

/** Takes the losses of a test, and what failed in it. */
export type RecordLosses = (failure: string, losses: Losses) => void

interface Load {
  /** What each charge takes, or a function that returns it for the next charge. */
  readonly parts: Parts | (() => Parts)
  readonly callers: number
  /** Where the charges are counted. */
  readonly tally: Tally
  goesOn(): boolean
  /** Awaited before each charge, which the tally then has as sent. */
  beforeSend?(): Promise<void>
  onFailure?(error: StoreError): void
}

/** How long a caller rests after a failure, so that it does not spin while there is no connection. */
const REST_MS = 2

/** Charges from several callers, each again as soon as it has an outcome. Rejects for errors of other kinds. */
export async function chargeRepeatedly(store: Store, load: Load): Promise<void> {
  const { parts, callers, tally, goesOn, beforeSend, onFailure } = load
  async function call(): Promise<void> {
    while (goesOn()) {
      tally.sent++
      const taken = typeof parts === 'function' ? parts() : parts
      await beforeSend?.()
      try {
        const [result] = await chargeStore(store, [taken])
        tally[result?.allowed ? 'allowed' : 'denied']++
      } catch (error) {
        if (!(error instanceof StoreError)) throw error
        onFailure?.(error)
        if (error.unsent || error.replied) tally.uncounted++
        await new Promise((resolve) => setTimeout(resolve, REST_MS))
      }
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
}
