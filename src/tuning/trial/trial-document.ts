import type { Documents } from '../../stores/documents.js'
import type { Store } from '../../stores/store.js'
import { asStoreError, StoreError } from '../../stores/store-error.js'
import { timeout } from '../../util/timeout.js'
import { keyName } from '../../util/validate.js'
import { readTrial, trialText } from './stored-trial.js'
import type { Trial } from './trial.js'

/** How long a read or a write of the document waits for the store. */
const TIMEOUT_MS = 5000

/** The trial that a store holds. */
export interface FoundTrial {
  /** Absent if there was none yet. */
  readonly trial: Trial | undefined
  readonly version: string | undefined
}

/** The document of a limiter's trial, which all processes share. */
export interface TrialDocument {
  /** Rejects with a `TypeError` if the store holds something else in its place, which stays untouched. */
  read(): Promise<FoundTrial>
  /**
   * Writes a trial in place of the one that was read. Resolves with whether it did: false if another process
   * wrote first. Rejects with a `StoreError` if the outcome is unknown.
   */
  write(trial: Trial, version: string | undefined): Promise<boolean>
}

/** Returns the key of the document of a limiter's trial. */
export function trialKey(prefix: string, limiter: string): string {
  return `${prefix}:dashboard:trials/${keyName('tune', 'limiter', limiter)}`
}

export function trialDocument(
  { name, documents }: Pick<Store, 'name'> & { readonly documents: Documents },
  key: string,
): TrialDocument {
  const within = timeout(TIMEOUT_MS)

  async function readStored() {
    const [found] = await within(documents.read([{ key }])).catch((error) => {
      throw asStoreError(name, error)
    })
    const stored = found && readTrial(found.text)
    if (found !== undefined && stored === undefined) {
      const fix = 'Delete it, or choose another prefix.'
      throw new TypeError(
        `tune: ${key} must hold a trial, but it holds ${found.damage ?? 'something else'}. ${fix}`,
      )
    }
    return { version: found?.version, stored }
  }

  return {
    async read() {
      const { version, stored } = await readStored()
      return { trial: stored?.trial, version }
    },
    async write(trial, version) {
      const writer = crypto.randomUUID()
      try {
        return await within(documents.replace(key, trialText(trial, writer), version))
      } catch (error) {
        const failure = asStoreError(name, error)
        if (failure.replied) throw failure
        const after = await readStored() // the reply was lost, but perhaps not the write
        if (after.stored?.writer === writer) return true
        if (after.version !== version) return false
        throw new StoreError(name, `${key} could not be written`, { cause: error })
      }
    },
  }
}
