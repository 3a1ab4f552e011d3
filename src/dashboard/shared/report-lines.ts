/**
 * The lines of a document, by their first character. The figures of a limiter begin with its line `now`, and in the
 * document of clients with its line `name`. A reader decodes a line only if its last document did not have it.
 */
export const LINES = {
  /** The name, the mode, the limits, the store, and the traffic of the slot that is not over. */
  now: '=',
  /** The traffic of the slots that are over. */
  past: '<',
  /** The limiter that the lines of clients after it are of. */
  name: '@',
  near: '~',
  /** What denials have in common.  */
  denials: '!',
  /** The samples of names that it counts: clients, addresses, networks, and the addresses of each network. */
  samples: '#',
  /** A client that was denied. */
  client: '-',
  candidate: '?',
} as const
