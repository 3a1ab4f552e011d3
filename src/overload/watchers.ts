/**
 * Hears when the response to a request begins, and whether the client leaves before that. Once the client
 * has left, the response begins when the handler ends or destroys it.
 */
export interface Watcher {
  readonly guard: object
  /** Whether the request has passed the guard. */
  hasPassed: boolean
  /** The watcher that was added to the same request before this one. */
  before: Watcher | undefined
  begin(): void
  /** Also called at the end of a response that has begun. */
  leave(): void
}

/** The watchers of one request. They form a linked list, so that a request needs no array. */
export interface Watchers {
  last: Watcher | undefined
}

export function addWatcher(watchers: Watchers, watcher: Watcher): void {
  watcher.before = watchers.last
  watchers.last = watcher
}

/** Returns whether a request has already passed a guard, because the guard is mounted twice on its path. */
export function hasPassed(watchers: Watchers, guard: object): boolean {
  let watcher = watchers.last
  while (watcher !== undefined && !(watcher.guard === guard && watcher.hasPassed)) watcher = watcher.before
  return watcher !== undefined
}

export function beginAll({ last }: Watchers): void {
  for (let watcher = last; watcher !== undefined; watcher = watcher.before) watcher.begin()
}

export function leaveAll({ last }: Watchers): void {
  for (let watcher = last; watcher !== undefined; watcher = watcher.before) watcher.leave()
}

/** Tells watchers that the client has left, and that no handler can respond any more. */
export function endAll(watchers: Watchers): void {
  leaveAll(watchers)
  beginAll(watchers)
}
