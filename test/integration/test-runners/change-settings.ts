import type { SettingsOverride } from 'headgate'
import type { Documents } from 'headgate/store'
import type { Redis } from 'ioredis'

const PROCESSES = 3
const CHANGES = 1
/** So many overrides take several slices of the event loop. */
const OVERRIDES = 3000

/** How many overrides the document has in the end. */
export const ALL_OVERRIDES = OVERRIDES + PROCESSES * CHANGES

/**
 * Changes a large document from several processes at once, so that changes collide and are retried. Returns
 * how many overrides it has in the end.
 */
export async function changeSettings(redis: Redis): Promise<number> {
  const { sharedSettings } = await import('headgate')
  const { redisStore } = await import('headgate/redis')
  const origin = { by: 'ada', reason: 'a test' }
  const store = redisStore(redis)
  const settingsOfProcess = () =>
    sharedSettings({ ...store, documents: { ...(store.documents as Documents) } })
  const overrides = Array.from({ length: OVERRIDES }, (_, i): SettingsOverride => {
    return { identity: `tenant-${i}`, exempt: true }
  })
  await settingsOfProcess().change('api', () => ({ overrides }), origin)
  const changes = Array.from({ length: PROCESSES }, async (_, process) => {
    const settings = settingsOfProcess()
    for (let i = 0; i < CHANGES; i++) {
      const added: SettingsOverride = { identity: `late-${process}-${i}`, exempt: true }
      const add = (document: { overrides: SettingsOverride[] }) => ({
        overrides: [...document.overrides, added],
      })
      await settings.change('api', add, origin)
    }
  })
  await Promise.all(changes)
  return (await settingsOfProcess().read('api')).overrides.length
}
