import { isConditionFailed } from './errors.js'

/** Resolves like the request, or with `undefined` if the condition of the request failed. */
export async function unlessChanged<T>(request: () => Promise<T>): Promise<T | undefined> {
  try {
    return await request()
  } catch (error) {
    if (isConditionFailed(error)) return undefined
    throw error
  }
}

/** Sends a conditional write. Resolves with whether its condition held, so that it wrote. */
export async function isWritten(write: () => Promise<unknown>): Promise<boolean> {
  return (await unlessChanged(async () => [await write()])) !== undefined
}
