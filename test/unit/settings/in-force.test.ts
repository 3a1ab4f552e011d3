import { memoryStore, type SettingsOverride, sharedSettings } from 'headgate'
import { partsInForce } from '../../../src/settings/in-force.js'
import { limitPath, overridePath } from '../../../src/settings/parts.js'
import { fragileStore } from './fragile-store.js'

const ada = { by: 'ada', reason: 'a launch' }
const eve = { by: 'eve', reason: 'an attack' }
const mallory: SettingsOverride = { identity: 'mallory', block: true }

/** Who set each part that is in force. */
async function settersOf(settings: ReturnType<typeof sharedSettings>, nowMs = Date.now()) {
  const parts = partsInForce(await settings.readWithChanges('api'), nowMs)
  return Object.fromEntries(parts.map(({ path, change }) => [path, change?.reason]))
}

test('says who set each limit, override and mode, when and why', async () => {
  const settings = sharedSettings(memoryStore())
  await settings.change('api', { limits: { api: { limit: 5 } }, overrides: [mallory] }, ada)
  await settings.change('api', (now) => ({ ...now, mode: 'report' }), eve)
  await settings.change('api', (now) => ({ ...now, limits: { api: { limit: 5 }, login: { limit: 1 } } }), eve)
  expect(await settersOf(settings)).toEqual({
    mode: 'an attack',
    [limitPath('api')]: 'a launch',
    [limitPath('login')]: 'an attack',
    [overridePath(mallory)]: 'a launch',
  })
  const [{ change } = { change: undefined }] = partsInForce(await settings.readWithChanges('api'), Date.now())
  expect(change).toMatchObject({ ...eve, atMs: expect.any(Number), id: expect.any(String) })
})

test('an undo is who set the part again', async () => {
  const settings = sharedSettings(memoryStore())
  await settings.change('api', { mode: 'report' }, ada)
  await settings.change('api', { mode: 'enforce' }, ada)
  await settings.undo('api', (await settings.changes('api'))[0]?.id ?? '', eve)
  expect(await settersOf(settings)).toEqual({ mode: 'an attack' })
})

test('leaves out overrides that have ended', async () => {
  const settings = sharedSettings(memoryStore())
  const until = Date.now() + 60_000
  await settings.change('api', { overrides: [{ ...mallory, until }] }, ada)
  expect(await settersOf(settings, until)).toEqual({})
  expect(await settersOf(settings, until - 1)).toEqual({ [overridePath(mallory)]: 'a launch' })
})

test('does not guess who set what the history does not reach back to', async () => {
  const { store, overwrite } = fragileStore()
  const part = (after: string) => ({ parts: [{ path: 'mode', after }], partCount: 1 })
  const change = (id: string, more: object = {}) => ({ ...eve, atMs: 1, id, ...more })
  const document = { mode: 'report', limits: { api: { limit: 5 } }, overrides: [mallory] }
  const write = (...changes: object[]) => overwrite(JSON.stringify({ document, changes }))
  const settings = sharedSettings(store)
  const nobody = { mode: undefined, [limitPath('api')]: undefined, [overridePath(mallory)]: undefined }
  await write(change('unknown'), change('known', part('report')))
  expect(await settersOf(settings)).toEqual(nobody)
  await write(change('by hand since', part('enforce')))
  expect(await settersOf(settings)).toEqual(nobody)
  await write(change('known', part('report')), change('unknown'))
  expect(await settersOf(settings)).toEqual({ ...nobody, mode: 'an attack' })
})
