import { type Store, StoreError } from 'headgate'

/** Reports that a server is unavailable, and that it is back. Repeated reports are ignored. */
export interface OutageReporter {
  away(this: void, message: string): void
  /** Reports an outage if the error of a store shows one. */
  awayBy(this: void, error: unknown): void
  back(this: void): void
}

/** Creates a reporter that prints one line when an outage starts and one when it ends. */
export function outageReporter(variable: string, server: string): OutageReporter {
  let isAway = false
  function away(message: string): void {
    if (isAway) return
    isAway = true
    console.error(
      `${variable}: ${server} is unavailable (${message}). Every request is allowed until it is back.`,
    )
  }
  return {
    away,
    awayBy(error) {
      if (error instanceof StoreError)
        away(error.cause instanceof Error ? error.cause.message : error.message)
    },
    back() {
      if (isAway) console.error(`${server} is available again.`)
      isAway = false
    },
  }
}

/** Returns a store whose charges report whether its server is available. */
export function reportingStore(store: Store, { awayBy, back }: OutageReporter): Store {
  return {
    ...store,
    async charge(charges) {
      try {
        const verdicts = await store.charge(charges)
        back()
        return verdicts
      } catch (error) {
        awayBy(error)
        throw error
      }
    },
  }
}
