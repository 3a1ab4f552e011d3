import { type Store, StoreError } from 'headgate'

/** Who is told, again and again, how a server does. */
export interface AwayTeller {
  away(this: void, message: string): void
  /** By what a store failed with. */
  awayBy(this: void, error: unknown): void
  back(this: void): void
}

/** Tells once that a server is away, however often that is seen, and once that it is back. */
export function tellWhenAway(variable: string, server: string): AwayTeller {
  let isAway = false
  function away(message: string): void {
    if (isAway) return
    isAway = true
    console.error(
      `${variable}: ${server} cannot be asked (${message}). Until it can, every request is let through.`,
    )
  }
  return {
    away,
    awayBy(error) {
      if (error instanceof StoreError)
        away(error.cause instanceof Error ? error.cause.message : error.message)
    },
    back() {
      if (isAway) console.error(`${server} answers again.`)
      isAway = false
    },
  }
}

/** A store of which charges tell how its server does. */
export function watched(store: Store, { awayBy, back }: AwayTeller): Store {
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
