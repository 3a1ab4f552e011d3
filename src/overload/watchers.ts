/**
 * What is told of a request: when its response begins, and that its client has left before. After that, a response
 * begins when its handler ends or destroys it.
 */
export interface Watcher {
  readonly guard: object
  /** Whether the request has passed the guard. */
  hasPassed: boolean
  /** The one that was added before it to the same request. */
  before: Watcher | undefined
  begin(): void
  /** Also called at the end of responses that have begun. */
  leave(): void
}

/** The watchers of one request. They are a list by themselves, so that a request costs nothing more. */
export interface Watchers {
  last: Watcher | undefined
}

export function addWatcher(watchers: Watchers, watcher: Watcher): void {
  watcher.before = watchers.last
  watchers.last = watcher
}

/** Returns whether a request has passed a guard, which is then mounted twice on a path. */
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

/** The client has left, and no handler can respond any more. */
export function endAll(watchers: Watchers): void {
  leaveAll(watchers)
  beginAll(watchers)
}
