/**
 * The lines of a report in a document, by their first character. A report begins with its line `now`, and the others
 * follow. A reader decodes a line only if its last document did not have it.
 */
export const LINES = {
  /** The name, the mode, the limits, the store, and the traffic of the slot that is not over. */
  now: '=',
  /** The traffic of the slots that are over. */
  past: '<',
  near: '~',
  /** What denials have in common.  */
  denials: '!',
  /** The samples of names that it counts: clients, addresses, networks, and the addresses of each network. */
  samples: '#',
  /** A client that was denied. */
  client: '-',
  candidate: '?',
} as const
