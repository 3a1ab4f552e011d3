/** Who is told, again and again, how a server does. */
export interface AwayTeller {
  away(this: void, message: string): void
  back(this: void): void
}

/** Tells once that a server is away, however often that is seen, and once that it is back. */
export function tellWhenAway(variable: string, server: string): AwayTeller {
  let isAway = false
  return {
    away(message) {
      if (isAway) return
      isAway = true
      console.error(
        `${variable}: ${server} cannot be asked (${message}). Until it can, every request is let through.`,
      )
    },
    back() {
      if (isAway) console.error(`${server} answers again.`)
      isAway = false
    },
  }
}
