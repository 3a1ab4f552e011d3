import { type Store, StoreError } from 'headgate'
import { customStore } from 'headgate/store'

/** Reports that a server is unavailable, and that it is back. Repeated reports are ignored. */
export interface OutageReporter {
  reportDown(this: void, message: string): void
  /** Reports an outage if the error of a store shows one. */
  reportError(this: void, error: unknown): void
  reportBack(this: void): void
}

/** Creates a reporter that prints one line when an outage starts and one when it ends. */
export function outageReporter(variable: string, server: string): OutageReporter {
  let isDown = false
  function reportDown(message: string): void {
    if (isDown) return
    isDown = true
    console.error(
      `${variable}: ${server} is unavailable (${message}). Until it is back, this process limits on its own.`,
    )
  }
  return {
    reportDown,
    reportError(error) {
      if (error instanceof StoreError)
        reportDown(error.cause instanceof Error ? error.cause.message : error.message)
    },
    reportBack() {
      if (isDown) console.error(`${server} is available again.`)
      isDown = false
    },
  }
}

/** Returns a store that reports whether its server is available. */
export function reportingStore(store: Store, { reportError, reportBack }: OutageReporter): Store {
  return customStore({
    ...store,
    async apply(operations) {
      try {
        const outcomes = await store.apply(operations)
        const error = outcomes.find((outcome) => outcome instanceof Error)
        if (error === undefined) reportBack()
        else reportError(error)
        return outcomes
      } catch (error) {
        reportError(error)
        throw error
      }
    },
  })
}
