import type { PartValue, SettingsChange } from '../limiter/settings-document.js'

/** A part of a document that two operators changed. */
export interface ConflictingPart {
  /** Such as `mode`, `limits.api` or `overrides[identity="user:acme"]`. */
  readonly path: string
  /** The value that the change was based on. Absent if the document did not have the part. */
  readonly before?: PartValue | undefined
  /** The value that it has by now. */
  readonly theirs?: PartValue | undefined
  /** The value that the rejected change would have given it. */
  readonly yours?: PartValue | undefined
  /** The last change of the part, without what else it changed. Absent if it was not recorded. */
  readonly change?: SettingsChange | undefined
}

/** The mark of these errors, shared by all copies of this package. */
const CONFLICT = Symbol.for('headgate.SettingsConflictError')
/** The most parts that a message names. */
const MAX_NAMED = 5

/**
 * A change of settings was not made, because another operator has changed the same parts of the document
 * since. `instanceof SettingsConflictError` also holds for errors of another copy of this package.
 *
 * @example
 * ```ts
 * import { memoryStore, SettingsConflictError, sharedSettings } from 'headgate'
 *
 * const settings = sharedSettings(memoryStore())
 * try {
 *   await settings.change('api', { mode: 'report' }, { by: 'ada', reason: 'a trial', basedOn: null })
 * } catch (error) {
 *   if (!(error instanceof SettingsConflictError)) throw error
 *   for (const { path, theirs, yours } of error.parts) console.log(path, { theirs, yours })
 * }
 * ```
 */
export class SettingsConflictError extends Error {
  override readonly name = 'SettingsConflictError'
  /** The changes since, the newest first. */
  readonly changes: readonly SettingsChange[]
  /** The parts that both have changed. Empty if it is not known what the others changed. */
  readonly parts: readonly ConflictingPart[]

  /** @internal */
  constructor(
    message: string,
    changes: readonly SettingsChange[] = [],
    parts: readonly ConflictingPart[] = [],
  ) {
    super(`settings: ${message}`)
    this.changes = jsonCopy(changes)
    this.parts = jsonCopy(parts)
  }

  static {
    Object.defineProperty(SettingsConflictError.prototype, CONFLICT, { value: true })
  }

  /** @internal */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && CONFLICT in value
  }
}

/** Returns a copy, so that no handler of an error changes what this process knows of a document. */
function jsonCopy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value))
}

/** Returns the paths of parts, each with who changed it last, as a message lists them. */
export function namesOf(parts: readonly ConflictingPart[]): string {
  const named = parts.slice(0, MAX_NAMED).map(({ path, change }) => {
    return change === undefined ? path : `${path} (by ${change.by}: ${JSON.stringify(change.reason)})`
  })
  const more = parts.length - MAX_NAMED
  return named.join(', ') + (more > 0 ? ` and ${more} more` : '')
}
