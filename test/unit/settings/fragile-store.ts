import { createLimiter, memoryStore, type SettingsDocument, type Store, sharedSettings } from 'headgate'
import type { Documents } from 'headgate/store'
import { chargeNow } from '../../support/charge-now.js'

export const ada = { by: 'ada', reason: 'a test' }
export const KEY = 'hg:settings:api'
export const blocked: SettingsDocument = { limits: {}, overrides: [{ identity: 'mallory', block: true }] }

/** A store that loses documents, and has others written into it by hand. */
export function fragileStore() {
  let inner = memoryStore().documents as Documents
  const documents: Documents = {
    read: (requests) => inner.read(requests),
    replace: (key, text, version) => inner.replace(key, text, version),
  }
  return {
    store: { ...memoryStore(), documents } as Store,
    documents,
    lose() {
      inner = memoryStore().documents as Documents
    },
    async textOf(): Promise<string> {
      const [found] = await inner.read([{ key: KEY }])
      return found?.text ?? ''
    },
    async overwrite(text: string): Promise<void> {
      const [found] = await inner.read([{ key: KEY }])
      await inner.replace(KEY, text, found?.version)
    },
  }
}

const limiters: { close(): Promise<void> }[] = []

/** A process whose limiter follows the document. */
export function following(store: Store) {
  const settings = sharedSettings(store)
  const key = (id: string) => id
  const limiter = createLimiter<string>({ name: 'api', limit: 2, window: '1h', key, store, settings })
  const failures: string[] = []
  limiter.events.on('settingsFailed', ({ message }) => failures.push(message))
  limiters.push(limiter)
  return { settings, failures, charge: (id: string) => chargeNow(limiter, id) }
}

/** A process that follows nothing, such as a script. */
export const scriptOn = (store: Store) =>
  sharedSettings({ ...store, documents: { ...(store.documents as Documents) } })

/** Stops the processes of a test. */
export async function closeAll(): Promise<void> {
  await Promise.all(limiters.splice(0).map((limiter) => limiter.close()))
}
