import { SettingsConflictError } from '../../settings/conflict.js'
import { messageOf, StoreError } from '../../stores/store-error.js'
import { RequestError } from './respond.js'

/**
 * Carries out an action. Wrong arguments are a 400, parts that others have changed meanwhile a 409, and a store
 * that fails is a 503, which says if the outcome is unknown.
 */
export async function attempt<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action()
  } catch (error) {
    if (error instanceof RequestError) throw error
    if (error instanceof SettingsConflictError) {
      const { parts, changes } = error
      throw new RequestError(409, error.message, {}, { conflicts: parts, base: changes[0]?.id ?? null })
    }
    if (error instanceof TypeError) throw new RequestError(400, messageOf(error))
    const isUnknown = !(error instanceof StoreError && (error.replied || error.unsent))
    throw new RequestError(503, messageOf(error), {}, { isUnknown })
  }
}

/** Reads something for an action. Rejects as `attempt` does, but a read has no outcome that could be unknown. */
export async function attemptRead<T>(read: () => Promise<T>): Promise<T> {
  return attempt(read).catch((error) => {
    throw error.status === 503 ? new RequestError(503, error.message) : error
  })
}
