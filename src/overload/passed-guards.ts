/** The guards that a request has passed, the last one first. */
interface PassedGuard {
  readonly guard: object
  readonly before: PassedGuard | undefined
}

/** A property costs less than an entry of a `WeakSet`, which each garbage collection visits. */
const PASSED = Symbol('headgate.passedGuards')

interface Passing {
  [PASSED]?: PassedGuard
}

/** Returns whether a request has passed a guard, which is then mounted twice on a path. */
export function hasPassed(req: object & Passing, guard: object): boolean {
  let passed = req[PASSED]
  while (passed !== undefined && passed.guard !== guard) passed = passed.before
  return passed !== undefined
}

/** Records that a request has passed a guard. */
export function recordPass(req: object & Passing, guard: object): void {
  req[PASSED] = { guard, before: req[PASSED] }
}
